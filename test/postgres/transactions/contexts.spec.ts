import { EventEmitter, once } from 'node:events';
import { readFile } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { randomUUID } from 'node:crypto';
import {
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Injectable,
  Module,
  type NestInterceptor,
  Post,
  Req,
  Scope,
  Sse,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { InjectDataSource, InjectRepository } from '@nestjs/typeorm';
import type { Request } from 'express';
import {
  type Observable,
  concatMap,
  defer,
  forkJoin,
  from,
  interval,
  lastValueFrom,
  map,
  mergeMap,
  take,
  tap,
  toArray,
} from 'rxjs';
import { DataSource, type Repository } from 'typeorm';
import { beforeEach, describe, expect, it } from 'vitest';
import { Idempotent } from '../../../src/http/idempotency/idempotent.decorator.js';
import { Transactions } from '../../../src/database/transactions/transactions.js';
import { MarketModule, Stall, Toy, openMarket, undo, TIMELY } from '../../support/market.js';

/** What a test makes the handlers and what surrounds them do. */
const doing: Record<'guard' | 'handler' | 'after', () => Promise<unknown>> = {
  guard: async () => undefined,
  handler: async () => undefined,
  after: async () => undefined,
};

@Injectable()
class WritingGuard implements CanActivate {
  async canActivate(): Promise<boolean> {
    await doing.guard();
    return true;
  }
}

/** What a team writes to have each handler in a transaction. */
@Injectable()
class TransactionInterceptor implements NestInterceptor {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return from(this.dataSource.transaction(() => lastValueFrom(next.handle())));
  }
}

/** Writes when the handler has answered. */
@Injectable()
class WritingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(mergeMap(async (value) => doing.after().then(() => value)));
  }
}

/** A service of one request, which Nest makes with its controller. */
@Injectable({ scope: Scope.REQUEST })
class Basket {
  constructor(@InjectRepository(Toy) private readonly toys: Repository<Toy>) {}

  add(name: string): Promise<unknown> {
    return this.toys.save(this.toys.create({ name }));
  }
}

@Controller({ path: 'contexts', version: '1' })
class ContextsController {
  constructor(private readonly transactions: Transactions) {}

  @Post('plain')
  @Idempotent()
  @UseGuards(WritingGuard)
  @UseInterceptors(WritingInterceptor)
  async plain(): Promise<object> {
    await doing.handler();
    return { done: true };
  }

  @Post('intercepted')
  @Idempotent()
  @UseInterceptors(TransactionInterceptor)
  async intercepted(): Promise<object> {
    await doing.handler();
    return { inside: this.transactions.isInside() };
  }

  @Post('observable')
  @Idempotent()
  observable(): Observable<object> {
    return defer(() => doing.handler()).pipe(
      concatMap(() => interval(0).pipe(take(3))),
      concatMap(() => doing.after()),
      toArray(),
      map(() => ({ done: true })),
    );
  }

  @Sse('stream')
  stream(): Observable<{ data: object }> {
    return from(['a', 'x', 'b']).pipe(
      concatMap((name) =>
        doing
          .handler()
          .then(() => ({ data: { name } }))
          .catch(() => ({ data: { failed: name } })),
      ),
    );
  }
}

@Controller({ path: 'baskets', version: '1' })
class BasketsController {
  constructor(private readonly basket: Basket) {}

  @Post()
  @Idempotent()
  async add(@Req() { query }: Request): Promise<object> {
    await this.basket.add('a');
    await this.basket.add(query['name'] === 'twice' ? 'a' : 'b');
    return { done: true };
  }
}

@Module({
  imports: [MarketModule],
  controllers: [ContextsController, BasketsController],
  providers: [WritingGuard, TransactionInterceptor, WritingInterceptor, Basket],
})
class ContextsModule {}

const { service, dataSource, toys, stalls, transactions, frames, add, names } = await openMarket([
  ContextsModule,
]);

beforeEach(() => {
  for (const name of ['guard', 'handler', 'after'] as const) doing[name] = async () => undefined;
});

const post = async (path: string, key?: string) => {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  return (await service.request('POST', `/v1/${path}`, { headers })).status;
};

async function* adding(all: readonly string[]): AsyncGenerator<string> {
  for (const name of all) {
    await add(name);
    yield name;
  }
}

/** Ways in which code gets from one place to another; each adds the toys `a` and `b`. */
const WAYS: readonly (readonly [name: string, work: () => Promise<unknown>])[] = [
  [
    'setImmediate()',
    async () => {
      await add('a');
      await new Promise((resolve, reject) => void setImmediate(() => void add('b').then(resolve, reject)));
    },
  ],
  [
    'setTimeout() and process.nextTick()',
    async () => {
      await new Promise((resolve, reject) => void setTimeout(() => void add('a').then(resolve, reject), 1));
      await new Promise((resolve, reject) => process.nextTick(() => void add('b').then(resolve, reject)));
    },
  ],
  [
    'queueMicrotask()',
    async () => {
      await add('a');
      await new Promise((resolve, reject) => queueMicrotask(() => void add('b').then(resolve, reject)));
    },
  ],
  [
    'a callback of Node',
    async () => {
      await promisify(readFile)(import.meta.filename);
      await add('a');
      await new Promise((resolve, reject) =>
        readFile(import.meta.filename, () => void add('b').then(resolve, reject)),
      );
    },
  ],
  [
    'an async generator',
    async () => {
      for await (const name of adding(['a', 'b'])) expect(await names()).toContain(name);
    },
  ],
  [
    'a stream',
    () =>
      pipeline(Readable.from(['a', 'b']), async (source: AsyncIterable<string>) => {
        for await (const name of source) await add(name);
      }),
  ],
  [
    'Promise.race() and Promise.any(), whose others end too',
    async () => {
      const all = [add('a'), add('b')];
      await Promise.race(all);
      await Promise.any([Promise.reject(new Error('not this one')), ...all]);
      await Promise.all(all);
    },
  ],
  [
    'an event emitter',
    async () => {
      const emitter = new EventEmitter();
      const added: Promise<unknown>[] = [];
      emitter.on('toy', (name: string) => added.push(add(name)));
      emitter.emit('toy', 'a');
      setImmediate(() => emitter.emit('toy', 'b'));
      await once(emitter, 'toy');
      await Promise.all(added);
    },
  ],
  [
    'observables',
    () =>
      lastValueFrom(
        from(['a', 'b']).pipe(
          mergeMap((name) => defer(() => add(name))),
          concatMap(() => forkJoin([toys.count(), stalls.count()])),
          tap({ next: () => undefined }),
          toArray(),
        ),
      ),
  ],
  [
    'a query builder that is awaited',
    async () => {
      const [a, b] = ['a', 'b'].map((name) => toys.createQueryBuilder().insert().values({ name }));
      await a?.execute();
      await Promise.resolve(b).then((one) => one?.execute());
    },
  ],
  [
    'a loop of awaits, side by side with another',
    () =>
      Promise.all(
        ['a', 'b'].map(async (name) => {
          await add(name);
          for (let turn = 0; turn < 3; turn += 1) {
            await toys.increment({ name }, 'count', 1);
            await new Promise(setImmediate);
          }
        }),
      ),
  ],
  [
    'an error that is caught and thrown on',
    async () => {
      await add('a');
      try {
        await add('a');
      } catch {
        await add('b');
      } finally {
        await toys.count();
      }
    },
  ],
  [
    'using an object that is closed at the end',
    async () => {
      await add('a');
      const closing = { [Symbol.asyncDispose]: () => add('b') };
      await closing[Symbol.asyncDispose]();
    },
  ],
];

describe.each(frames)('what takes part in %s', TIMELY, (_, run) => {
  it.each(WAYS)('what comes by %s', async (_name, work) => {
    await expect(run(() => work().then(undo))).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
    await run(work);
    expect(await names()).toEqual(['a', 'b']);
  });

  it('an async generator that was created before it, and is read in it', async () => {
    const generator = adding(['x', 'y']);
    await expect(
      run(async () => {
        for await (const name of generator) expect(await names()).toContain(name);
        undo();
      }),
    ).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
  });

  it('a listener that was added before it, and is called in it', async () => {
    const emitter = new EventEmitter();
    let received: Promise<unknown> | undefined;
    emitter.on('toy', (name: string) => void (received = add(name)));
    await expect(
      run(async () => {
        emitter.emit('toy', 'x');
        await received;
        undo();
      }),
    ).rejects.toThrow('undo');
    expect(await names()).toEqual([]);
  });

  it('not what was started before it, although it is awaited in it', async () => {
    const before = add('before');
    await expect(
      run(async () => {
        await before;
        await add('x');
        undo();
      }),
    ).rejects.toThrow('undo');
    expect(await names()).toEqual(['before']);
  });

  it('not a read that was started before it, although it is awaited in it', async () => {
    const before = names();
    await run(async () => {
      await add('a');
      expect(await before).toEqual([]);
    });
  });

  it('work that continues after a lost Promise.race() is in it, or separate after it', async () => {
    let lost: Promise<unknown> | undefined;
    await run(async () => {
      lost = add('a').then(() => add('b'));
      await Promise.race([lost, Promise.resolve()]);
    });
    await lost;
    expect(await names()).toEqual(['a', 'b']);
  });
});

describe.each([
  ['without a key', undefined],
  ['with an Idempotency-Key', true],
])('what surrounds a handler, %s', TIMELY, (_, hasKey) => {
  const keyed = () => (hasKey ? randomUUID() : undefined);

  it('a guard and an interceptor that write commit by themselves', async () => {
    doing.guard = () => stalls.insert({ name: 'by the guard' });
    doing.handler = () => add('by the handler');
    doing.after = () => add('by the interceptor');
    expect(await post('contexts/plain', keyed())).toBe(201);
    expect([await names(), await stalls.count()]).toEqual([['by the handler', 'by the interceptor'], 1]);
  });

  it('a guard that writes stays when the handler fails', async () => {
    doing.guard = () => stalls.save(stalls.create({ name: 'by the guard' }));
    doing.handler = () => dataSource.transaction(() => add('x').then(undo));
    expect(await post('contexts/plain', keyed())).toBe(500);
    expect([await names(), await stalls.count()]).toEqual([[], 1]);
  });

  it('a guard keeps no write lock while the handler awaits something else', async () => {
    doing.guard = () => dataSource.transaction(() => stalls.insert({ name: 'by the guard' }));
    doing.handler = async () => {
      await transactions.outside(() => add('beside'));
      await add('a');
    };
    expect(await post('contexts/plain', keyed())).toBe(201);
    expect(await names()).toEqual(['a', 'beside']);
  });

  it('an interceptor of a team that has each handler in a transaction', async () => {
    const key = keyed();
    doing.handler = async () => {
      await add('a');
      await toys.save(toys.create({ name: 'b' }));
      await dataSource.transaction(() => add('c'));
      undo();
    };
    expect(await post('contexts/intercepted', key)).toBe(500);
    expect(await names()).toEqual([]);
    doing.handler = () => Promise.all([add('a'), toys.save(toys.create({ name: 'b' }))]);
    expect(await post('contexts/intercepted', key)).toBe(201);
    expect(await names()).toEqual(['a', 'b']);
  });

  it('ten requests by that interceptor at a time mix nothing', async () => {
    let count = 0;
    doing.handler = async () => {
      const at = (count += 1);
      await add(`${at}`);
      await new Promise(setImmediate);
      if (at % 2 === 1) undo();
    };
    await Promise.all(Array.from({ length: 10 }, () => post('contexts/intercepted', keyed())));
    expect(await names()).toHaveLength(5);
  });

  it('a provider of one request', async () => {
    expect(await post('baskets', keyed())).toBe(201);
    expect(await names()).toEqual(['a', 'b']);
  });

  it('an observable of the handler', async () => {
    doing.handler = () => add('first');
    doing.after = () => toys.increment({ name: 'first' }, 'count', 1);
    expect(await post('contexts/observable', keyed())).toBe(201);
    expect((await toys.findOneByOrFail({ name: 'first' })).count).toBe(4);
  });
});

describe('with an Idempotency-Key', TIMELY, () => {
  it('an observable of the handler is one transaction, to its last value', async () => {
    let values = 0;
    doing.handler = () => add('first');
    doing.after = async () => {
      values += 1;
      await add(`value ${values}`);
      if (values === 3) undo();
    };
    expect(await post('contexts/observable', randomUUID())).toBe(500);
    expect(await names()).toEqual([]);
  });

  it('a provider of one request takes part', async () => {
    expect(await post('baskets?name=twice', randomUUID())).toBe(409);
    expect(await names()).toEqual([]);
  });

  it('a handler that catches a violation has the same outcome as without', async () => {
    await add('taken');
    doing.handler = async () => {
      await add('a').catch(() => undefined);
      await add('taken').catch(() => undefined);
      await toys.save(toys.create({ name: 'taken' })).catch(() => undefined);
      await add('b');
    };
    const outcomes: unknown[] = [];
    for (const key of [undefined, randomUUID()]) {
      await toys.delete([{ name: 'a' }, { name: 'b' }]);
      outcomes.push([await post('contexts/plain', key), await names()]);
    }
    expect(outcomes[1]).toEqual([201, ['a', 'b', 'taken']]);
    expect(outcomes[0]).toEqual(outcomes[1]);
  });
});

describe('a stream of server-sent events', TIMELY, () => {
  it('has a transaction for each event', async () => {
    const all = ['a', 'x', 'b'];
    let at = 0;
    doing.handler = () =>
      dataSource.transaction(async () => {
        const name = all[(at += 1) - 1] ?? '';
        await add(name);
        await stalls.insert({ name });
        if (name === 'x') undo();
      });
    const { status, text } = await service.request('GET', '/v1/contexts/stream');
    expect(status).toBe(200);
    expect(text.match(/data: .*/g)).toEqual([
      'data: {"name":"a"}',
      'data: {"failed":"x"}',
      'data: {"name":"b"}',
    ]);
    expect([await names(), await stalls.count()]).toEqual([['a', 'b'], 2]);
    expect(await dataSource.getRepository(Stall).count()).toBe(2);
  });
});
