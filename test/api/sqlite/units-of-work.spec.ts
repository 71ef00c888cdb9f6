import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import {
  Body,
  Controller,
  Injectable,
  Logger,
  Module,
  Param,
  type PipeTransform,
  Post,
  type Type,
} from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { defer } from 'rxjs';
import { DataSource, type Repository } from 'typeorm';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { JsonRows } from '../../../src/database/json-rows.js';
import { Transactions } from '../../../src/database/transactions/transactions.js';
import { ApiError } from '../../../src/core/errors/api-error.js';
import { HTTP_ERRORS } from '../../../src/core/errors/http.errors.js';
import { Idempotent } from '../../../src/http/idempotency/idempotent.decorator.js';
import { Operation } from '../../../src/http/declarations/operation.decorator.js';
import { Pet } from '../../support/pets/pet.entity.js';
import { PetDto } from '../../support/pets/pets.dto.js';
import { gate } from '../../support/gate.js';
import { folderOfTest } from '../../support/service-process.js';
import { openForTest } from '../../support/opened.js';

const row = (name: string) => ({ name, categoryId: 1n, status: 'sold' as const });

/** What a handler works with, as a team injects it. */
@Injectable()
class Tools {
  constructor(
    @InjectRepository(Pet) readonly pets: Repository<Pet>,
    readonly dataSource: DataSource,
    readonly rows: JsonRows,
    readonly transactions: Transactions,
  ) {}
}

type Way = (tools: Tools) => Promise<unknown>;

/** Ways in which a handler adds the animals `a` and `b`, reading before and after. */
const WAYS: Readonly<Record<string, Way>> = {
  'repositories that read, then insert': async ({ pets }) => {
    expect(await pets.countBy({ name: 'a' })).toBe(0);
    await pets.insert(row('a'));
    await pets.insert(row('b'));
    expect(await pets.count()).toBe(2);
  },
  'save(), remove() and update()': async ({ pets }) => {
    const [x, y, b] = ['x', 'y', 'b'].map((name) => pets.create(row(name)));
    await pets.save([x, y, b].filter((one) => one !== undefined));
    if (x) await pets.remove(x);
    await pets.update({ name: 'y' }, { name: 'a' });
  },
  'dataSource.transaction() and its manager': async ({ dataSource }) => {
    await dataSource.transaction(async (manager) => {
      expect(await manager.count(Pet)).toBe(0);
      await manager.save(Pet, row('a'));
    });
    await dataSource.transaction('SERIALIZABLE', (manager) => manager.insert(Pet, row('b')));
  },
  'repositories and managers in transactions within each other': async ({ dataSource, pets }) => {
    await dataSource.transaction(async (manager) => {
      await pets.insert(pets.create(row('a')));
      expect(await manager.countBy(Pet, { name: 'a' })).toBe(1);
      await pets.manager.transaction((inner) => inner.insert(Pet, row('b')));
      expect(await pets.count()).toBe(2);
    });
  },
  'one that fails within, and one that does not': async ({ dataSource, pets }) => {
    await pets.insert(row('a'));
    const failing = dataSource.transaction(async () => {
      await pets.insert(row('x'));
      throw new Error('undo');
    });
    await expect(failing).rejects.toThrow('undo');
    await dataSource.transaction(() => pets.insert(row('b')));
  },
  'dataSource.query()': async ({ dataSource }) => {
    const insert = 'INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)';
    await dataSource.query(insert, ['a', 1, 'sold']);
    await dataSource.query(insert, ['b', 1, 'sold']);
    expect(await dataSource.query('SELECT count(*) AS n FROM pets')).toEqual([{ n: 2 }]);
  },
  'query builders': async ({ dataSource, pets }) => {
    await pets
      .createQueryBuilder()
      .insert()
      .values([row('x'), row('b')])
      .execute();
    await dataSource.createQueryBuilder().update(Pet).set({ name: 'a' }).where({ name: 'x' }).execute();
    expect(await pets.createQueryBuilder('pet').where('pet.name = :name', { name: 'a' }).getCount()).toBe(1);
  },
  'a query runner of its own': async ({ dataSource }) => {
    const runner = dataSource.createQueryRunner();
    await runner.connect();
    await runner.startTransaction();
    await runner.manager.insert(Pet, row('a'));
    await runner.manager.save(Pet, row('b'));
    await runner.commitTransaction();
    await runner.release();
  },
  'all of it side by side': async ({ dataSource, pets }) => {
    await Promise.all([
      pets.save(pets.create(row('a'))),
      pets.find(),
      dataSource
        .transaction(async (manager) => {
          await manager.insert(Pet, row('x'));
          await pets.insert(row('y'));
          throw new Error('undo');
        })
        .catch(() => undefined),
      dataSource.query('SELECT 1'),
      dataSource.transaction(() => pets.insert(row('b'))),
    ]);
  },
  'JsonRows, which sees what was written, in a transaction and outside of one': async ({
    dataSource,
    pets,
    rows,
  }) => {
    const page = async () => JSON.parse((await rows.page(Pet, PetDto, { limit: 9 })).items.text) as object[];
    await pets.insert(row('a'));
    expect(await page()).toHaveLength(1);
    await dataSource.transaction(async (manager) => {
      const b = pets.create(row('b'));
      await manager.insert(Pet, b);
      expect((await rows.one(Pet, PetDto, b.id))?.text).toContain('"b"');
      expect(await page()).toHaveLength(2);
    });
  },
};

/** Where a test holds up a handler, or what comes before it. */
const hold = { pipe: async () => {}, handler: (async () => {}) as Way };
let failure: Error | undefined;
let calledBack = 0;

@Injectable()
class HoldingPipe implements PipeTransform {
  async transform(value: unknown): Promise<unknown> {
    await hold.pipe();
    return value;
  }
}

@Controller({ path: 'litters', version: '1' })
class LittersController {
  constructor(private readonly tools: Tools) {}

  @Post('direct/:way')
  @Idempotent()
  @Operation({
    id: 'createLitter',
    summary: 'Add a litter',
    description: 'Adds a litter.',
    responses: { status: 201, description: 'Done', type: Object },
  })
  async direct(@Param('way') way: string): Promise<object> {
    await this.add(way);
    return { way };
  }

  @Idempotent()
  @Post('nest/:way')
  nest(@Param('way') way: string, @Body(HoldingPipe) _body: object): unknown {
    return defer(() => this.add(way).then(() => ({ way })));
  }

  private async add(way: string): Promise<void> {
    this.tools.transactions.afterCommit(() => {
      throw new Error('This undoes nothing, and keeps no other callback from its call.');
    });
    this.tools.transactions.afterCommit(() => (calledBack += 1));
    await (WAYS[way] ?? hold.handler)(this.tools);
    if (failure) throw failure;
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Pet])],
  controllers: [LittersController],
  providers: [Tools, HoldingPipe],
})
class LittersModule {}

beforeEach(() => {
  Object.assign(hold, { pipe: async () => {}, handler: async () => {} });
  failure = undefined;
  calledBack = 0;
});

async function folder(): Promise<string> {
  const path = await folderOfTest();
  return join(path, 'a.sqlite');
}

async function open(file?: string, modules: Type[] = [LittersModule]) {
  const service = await openForTest({
    modules,
    environment: { DATABASE_URL: `sqlite:${file ?? (await folder())}` },
  });
  const { pets, dataSource } = service.app.get(Tools);
  const add = (way: string, key?: string, face = 'direct', apiKey = service.key) =>
    service.request('POST', `/v1/litters/${face}/${encodeURIComponent(way)}`, {
      key: apiKey,
      json: {},
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  const addConcurrently = () =>
    service.request('POST', '/v1/pets', { json: { name: 'beside', categoryId: 1 } });
  const names = async () => (await pets.find()).map(({ name }) => name).toSorted();
  return { service, dataSource, pets, add, addBeside: addConcurrently, names };
}

describe.each([
  ['without a key', undefined],
  ['with an Idempotency-Key', 'k-1'],
])('a handler that works %s', (_, key) => {
  it.each(['direct', 'nest'])('adds the same with any API, run by %s', async (face) => {
    const { pets, add, names } = await open();
    for (const [index, way] of Object.keys(WAYS).entries()) {
      await pets.clear();
      calledBack = 0;
      const ownKey = key === undefined ? key : `${key}-${index}`;
      const { status, body } = await add(way, ownKey, face);
      expect([way, status, body]).toEqual([way, 201, { way }]);
      expect([way, ...(await names())]).toEqual([way, 'a', 'b']);
      if (ownKey !== undefined) {
        expect((await add(way, ownKey, face)).headers.get('idempotent-replayed')).toBe('true');
        expect([way, ...(await names())]).toEqual([way, 'a', 'b']);
      }
      expect([way, calledBack]).toEqual([way, 1]);
    }
  });
});

describe('a handler that fails after its writes', () => {
  it.each([
    ['an error', new Error('the second half is missing'), 500],
    ['a refusal', new ApiError(HTTP_ERRORS.precondition_failed), 412],
  ])('by %s includes them all with a key, whatever wrote them', async (_, error, expected) => {
    const { add, names } = await open();
    for (const way of Object.keys(WAYS)) {
      failure = error;
      expect((await add(way, 'k-1')).status).toBe(expected);
      expect([way, ...(await names())]).toEqual([way]);
    }
    expect(calledBack).toBe(0);
    failure = undefined;
    expect((await add('dataSource.query()', 'k-2')).status).toBe(201);
  });
});

describe('other writers do not wait', () => {
  it('by a handler that awaits something before its first statement', async () => {
    const { add, addBeside: addConcurrently, names } = await open();
    const [arrived, go] = [gate(), gate()];
    hold.handler = async ({ pets }) => {
      arrived.open();
      await go.opened;
      await pets.insert(row('held up'));
    };
    const slow = add('slow', 'k-1');
    await arrived.opened;
    expect((await addConcurrently()).status).toBe(201);
    go.open();
    expect((await slow).status).toBe(201);
    expect(await names()).toEqual(['beside', 'held up']);
  });

  it('by a pipe, although it reads by a repository', async () => {
    const { add, addBeside: addConcurrently, pets } = await open();
    const [arrived, go] = [gate(), gate()];
    hold.pipe = async () => {
      await pets.count();
      arrived.open();
      await go.opened;
    };
    const slow = add('dataSource.query()', 'k-1', 'nest');
    await arrived.opened;
    expect((await addConcurrently()).status).toBe(201);
    await pets.clear();
    go.open();
    expect((await slow).status).toBe(201);
  });

  it('by work that remains after the response of a handler', async () => {
    const { add, addBeside: addConcurrently, dataSource, names } = await open();
    const go = gate();
    let late: Promise<unknown> | undefined;
    hold.handler = async ({ pets }) => {
      await pets.insert(row('in time'));
      late = go.opened.then(() => pets.save(pets.create(row('late'))));
    };
    expect((await add('left', 'k-1')).status).toBe(201);
    expect((await addConcurrently()).status).toBe(201);
    const other = dataSource.transaction(async (manager) => {
      await manager.insert(Pet, row('undone'));
      go.open();
      await new Promise(setImmediate);
      throw new Error('undo');
    });
    await expect(other).rejects.toThrow('undo');
    await late;
    expect(await names()).toEqual(['beside', 'in time', 'late']);
  });
});

describe('a request that another process completes while its handler has not written yet', () => {
  it('gets that response, and its handler stops at its first statement', async () => {
    const file = await folder();
    const [first, second] = [await open(file), await open(file)];
    const [arrived, go] = [gate(), gate()];
    let isFirst = true;
    let isThrough = false;
    hold.handler = async ({ pets }) => {
      if (isFirst) {
        isFirst = false;
        arrived.open();
        await go.opened;
        await pets.count().catch((error: Error) => {
          throw new ApiError(HTTP_ERRORS.precondition_failed, { cause: error });
        });
        isThrough = true;
      }
      await pets.insert(row('once'));
    };
    const slow = first.add('once', 'k-1');
    await arrived.opened;
    const fast = await second.add('once', 'k-1', 'direct', first.service.key);
    expect(fast.status).toBe(201);
    go.open();
    const { status, text, headers } = await slow;
    expect([status, text, headers.get('idempotent-replayed')]).toEqual([201, fast.text, 'true']);
    expect([isThrough, await first.names()]).toEqual([false, ['once']]);
  });
});

describe('a transaction that keeps the write lock for longer than a second', () => {
  const warnings: string[] = [];
  beforeEach(() => {
    warnings.length = 0;
    // A busy machine causes a warning as well.
    vi.spyOn(Logger.prototype, 'warn').mockImplementation(
      (text: string) => void (text.includes('write lock') && warnings.push(text)),
    );
  });

  it.each([
    ['its operation', 'k-1', /^LittersController\.direct /],
    ['who called it', undefined, /^The transaction at .*hold\.handler.* \(.*units-of-work\.spec\.ts/],
  ])('is logged with the name of %s, and once more with its total when it ends', async (_, key, name) => {
    const { add, addBeside: addConcurrently } = await open();
    // What the start warns of is nothing of this.
    warnings.length = 0;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const [arrived, go] = [gate(), gate()];
    hold.handler = ({ dataSource, pets }) =>
      dataSource.transaction(async () => {
        await pets.insert(row('slow'));
        arrived.open();
        await go.opened;
      });
    const slow = add('slow', key);
    await arrived.opened;
    await vi.advanceTimersByTimeAsync(999);
    expect(warnings).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(warnings).toEqual([expect.stringMatching(name)]);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(warnings).toHaveLength(1);
    go.open();
    expect((await slow).status).toBe(201);
    expect(warnings[1]).toMatch(name);
    expect(warnings[1]).toMatch(/held the write lock for 2500 ms\.$/);
    vi.useRealTimers();
    expect((await addConcurrently()).status).toBe(201);
    // A write of the service itself that started by the other clock may seem long.
    expect(warnings.filter((text) => name.test(text))).toHaveLength(2);
  });

  it('lets waiting requests be refused with 503 and Retry-After after 10 s, with and without a key', async () => {
    const { add, addBeside: addConcurrently } = await open();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const [arrived, go] = [gate(), gate()];
    hold.handler = async ({ pets }) => {
      await pets.insert(row('slow'));
      arrived.open();
      await go.opened;
    };
    const slow = add('slow', 'k-1');
    await arrived.opened;
    const waiting = [
      addConcurrently(),
      add('dataSource.query()'),
      add('save(), remove() and update()', 'k-2'),
    ];
    let completed = 0;
    for (const one of waiting) void one.finally(() => (completed += 1));
    while (completed < waiting.length) {
      await vi.advanceTimersByTimeAsync(1_000);
      await pause(20);
    }
    for (const { status, body, headers } of await Promise.all(waiting))
      expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'service_unavailable', '1']);
    go.open();
    expect((await slow).status).toBe(201);
  });
});
