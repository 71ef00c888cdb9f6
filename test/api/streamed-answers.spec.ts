import { EventEmitter, once } from 'node:events';
import { createReadStream } from 'node:fs';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  type NestInterceptor,
  Post,
  Res,
  StreamableFile,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import type { Response as ExpressResponse } from 'express';
import { map } from 'rxjs';
import { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../src/core/errors/api-error.js';
import { HTTP_ERRORS } from '../../src/core/errors/http.errors.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { Pet } from '../support/pets/pet.entity.js';
import { sendRaw } from '../support/raw-http.js';
import { openForAll, openForTest } from '../support/opened.js';
import { described } from '../support/described.js';

/** What happened to the generators of the controller below. */
let events: string[] = [];
const ends = new EventEmitter();
/** How many pieces the last of them made. */
let made = 0;

async function* pieces(...values: unknown[]): AsyncGenerator {
  events.push('started');
  made = 0;
  try {
    for (const piece of values) {
      await Promise.resolve();
      made += 1;
      if (piece instanceof Error) throw piece;
      yield piece;
    }
  } finally {
    events.push('ended');
    ends.emit('ended');
  }
}

/** The last stream that was made. */
let opened: Readable | undefined;

/** Bytes as they come from a file, and a failure after them if one is given. */
function readable(error?: Error): Readable {
  opened = Readable.from(pieces('a', 'b', ...(error ? [error] : [])), { objectMode: false });
  return opened;
}

function webStream(...texts: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

const RESPONSES: Readonly<Record<string, () => unknown>> = {
  texts: () => pieces('a', 'ä'),
  objects: () => pieces({ n: 1 }, { n: 2 }),
  bytes: () => pieces(Buffer.from('a'), new Uint8Array([98])),
  none: () => pieces(),
  'node-stream': () => readable(),
  'web-stream': () => webStream('a', 'b'),
  'web-response': () =>
    new Response(webStream('a', 'b'), {
      status: 202,
      headers: [
        ['Content-Type', 'text/csv'],
        ['X-Own', 'yes'],
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
      ],
    }),
  'web-json': () => Response.json({ n: 1 }),
  file: () => new StreamableFile(Buffer.from('ab'), { type: 'text/csv' }),
  'file-stream': () => new StreamableFile(readable()),
  refused: () => pieces(new ApiError(HTTP_ERRORS.malformed_request, { params: { reason: 'of the test' } })),
  failed: () => pieces(new Error('a secret')),
  'failed-stream': () => new Readable({ read: () => undefined }).destroy(new Error('a secret')),
  'missing-file': () => new StreamableFile(createReadStream('/nowhere.csv'), { type: 'text/csv' }),
  'missing-later': () =>
    new StreamableFile(createReadStream('/nowhere.csv'), {
      disposition: 'attachment; filename="a.zip"',
      length: 9,
    }),
  'failed-file': () =>
    new StreamableFile(new Readable({ read: () => undefined }).destroy(new Error('a secret'))),
  'failed-early': async () => {
    const stream = createReadStream('/nowhere.csv');
    await once(stream, 'error').catch(() => undefined);
    return new StreamableFile(stream, { disposition: 'attachment; filename="a.zip"', length: 9 });
  },
  broken: () => pieces('a', new Error('a secret')),
  'broken-stream': () => readable(new Error('a secret')),
  'broken-file': () => new StreamableFile(readable(new Error('a secret'))),
  'broken-response': () => new Response(readable(new Error('a secret')) as never),
  endless: () => pieces(...Array.from({ length: 1_000 }, () => 'x'.repeat(65_536))),
  nothing: () => undefined,
  null: () => null,
  text: () => 'text',
  int64: () => 2n ** 63n - 1n,
  array: () => [1n, null, { a: 'b' }],
  buffer: () => Buffer.from('a'),
};

/** The type that an operation declares, if it declares one. */
const TYPES: Readonly<Record<string, object>> = Object.fromEntries(
  ['endless', 'missing-later', 'failed-file', 'failed-early'].map((name) => [
    name,
    { contentType: 'application/zip' },
  ]),
);

/** One operation for each response. */
function responsesController() {
  @Controller({ path: 'answers', version: '1' })
  class AnsweringController {}
  for (const [name, respond] of Object.entries(RESPONSES)) {
    Object.defineProperty(AnsweringController.prototype, name, { value: respond, writable: true });
    const handler = Object.getOwnPropertyDescriptor(
      AnsweringController.prototype,
      name,
    ) as PropertyDescriptor;
    for (const decorate of [Get(name), described(name, TYPES[name])])
      decorate(AnsweringController.prototype, name, handler);
  }
  return AnsweringController;
}

@Controller({ path: 'typed', version: '1' })
class TypedController {
  @Get()
  @described('typed')
  typed(@Res({ passthrough: true }) response: ExpressResponse): object {
    response.status(203).setHeader('Content-Type', 'application/problem+json');
    return { big: 2n ** 63n - 1n };
  }
}

@Controller({ path: 'once', version: '1' })
class OnceController {
  constructor(private readonly dataSource: DataSource) {}

  @Post()
  @Idempotent()
  async *once(): AsyncGenerator<string> {
    await this.dataSource.manager.insert(Pet, { name: 'Rex', categoryId: 1n, status: 'sold' });
    yield 'a';
  }

  @Post('file')
  @Idempotent()
  async file(): Promise<StreamableFile> {
    await this.dataSource.manager.insert(Pet, { name: 'Rex', categoryId: 1n, status: 'sold' });
    return new StreamableFile(Buffer.from('a'));
  }
}

/** Fails on, or replaces, what an operation has answered when the request asks for it. */
@Injectable()
class Meddling implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    const how = context.switchToHttp().getRequest<{ query: { how?: string } }>().query.how;
    return next.handle().pipe(
      map((body: unknown) => {
        if (how === 'fail') throw new Error('a secret');
        return how === 'replace' ? 'replaced' : body;
      }),
    );
  }
}

@Module({
  controllers: [responsesController(), TypedController, OnceController],
  providers: [{ provide: APP_INTERCEPTOR, useClass: Meddling }],
})
class AnswersModule {}

const service = await openForAll({ modules: [AnswersModule] });
beforeEach(() => {
  events = [];
});

const headers = () => ({ authorization: `Bearer ${service.key}` });
const rawRequest = (name: string, { key } = service) =>
  `GET /v1/answers/${name} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;

describe('the response of an added operation', () => {
  beforeEach(() => {
    service.clock.advance(60_000);
  });

  const json = 'application/json; charset=utf-8';
  const text = 'text/plain; charset=utf-8';
  const bytes = 'application/octet-stream';
  it.each([
    ['texts', 200, text, 'aä'],
    ['objects', 200, 'application/x-ndjson', '{"n":1}\n{"n":2}\n'],
    ['bytes', 200, bytes, 'ab'],
    ['none', 200, null, ''],
    ['web-stream', 200, bytes, 'ab'],
    ['web-response', 202, 'text/csv; charset=utf-8', 'ab'],
    ['web-json', 200, json, '{"n":1}'],
    ['file', 200, 'text/csv', 'ab'],
    ['file-stream', 200, bytes, 'ab'],
    ['nothing', 200, null, ''],
    ['null', 200, json, 'null'],
    ['text', 200, json, '"text"'],
    ['int64', 200, json, '9223372036854775807'],
    ['array', 200, json, '[1,null,{"a":"b"}]'],
    ['buffer', 200, json, '{"type":"Buffer","data":[97]}'],
  ])('%s: %i, %s, %j', async (name, status, type, expected) => {
    const response = await fetch(`${service.url}/v1/answers/${name}`, { headers: headers() });
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      status,
      type,
      expected,
    ]);
    if (name === 'web-response') {
      expect(response.headers.get('x-own')).toBe('yes');
      expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    }
    // What has started to be made is made to its end.
    expect(events.join()).toMatch(/^(started,ended)?$/);
  });

  it('an object under its own media type: with every bigint exact', async () => {
    const response = await fetch(`${service.url}/v1/typed`, { headers: headers() });
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      203,
      'application/problem+json; charset=utf-8',
      '{"big":9223372036854775807}',
    ]);
  });

  it.each([
    ['refused', 400, 'malformed_request'],
    ['failed', 500, 'internal_error'],
    ['failed-stream', 500, 'internal_error'],
    // By Nest's own handler of a file that cannot be read.
    ['missing-file', 400, 'bad_request'],
    ['missing-later', 400, 'bad_request'],
    ['failed-file', 400, 'bad_request'],
    ['failed-early', 400, 'bad_request'],
  ])('%s before its first piece: %i %s', async (name, status, code) => {
    const result = await service.request('GET', `/v1/answers/${name}`);
    expect([result.status, result.body.code]).toEqual([status, code]);
    expect(result.headers.get('content-type')).toBe(json);
    expect(result.headers.get('content-disposition')).toBeNull();
    expect(result.text).not.toMatch(/secret|nowhere/);
  });

  it.each(['broken', 'broken-stream', 'broken-file', 'broken-response'])(
    '%s after its first piece: the connection is cut',
    async (name) => {
      // It ends by itself, although the client would keep it open.
      const received = await sendRaw(service.url, rawRequest(name));
      // What has been written by then may come as one chunk.
      expect(received).toMatch(/^HTTP\/1\.1 200 [^]*Transfer-Encoding: chunked[^]*\r\n\r\n[12]\r\nab?\r\n/);
      expect(received).not.toMatch(/\r\n0\r\n\r\n$|secret/);
      expect((await service.request('GET', '/v1/pets')).status).toBe(200);
    },
  );

  it.each(['texts', 'node-stream', 'web-response', 'endless'])(
    'HEAD of %s: the response of GET, without its body',
    async (name) => {
      const response = await fetch(`${service.url}/v1/answers/${name}`, {
        method: 'HEAD',
        headers: headers(),
      });
      expect([response.status, await response.text()]).toEqual([name === 'web-response' ? 202 : 200, '']);
      expect(events.filter((event) => event === 'started')).toHaveLength(0);
    },
  );

  it('is stopped when its client disconnects', async () => {
    const client = new AbortController();
    const response = await fetch(`${service.url}/v1/answers/endless`, {
      headers: headers(),
      signal: client.signal,
    });
    await response.body?.getReader().read();
    const ended = once(ends, 'ended');
    client.abort();
    await ended;
    expect(events).toEqual(['started', 'ended']);
  });

  it('is generated only as fast as its client reads, and ends with a client that does not read', async () => {
    const impatient = await openForTest({
      modules: [AnswersModule],
      environment: { RESPONSE_TIMEOUT_MS: '1000' },
    });
    const ended = once(ends, 'ended');
    const socket = connect(Number(new URL(impatient.url).port), '127.0.0.1');
    socket.write(rawRequest('endless', impatient));
    await once(socket, 'readable');
    await ended;
    expect(made).toBeLessThan(1_000);
    socket.destroy();
  });

  it('of another type is documented with it, and refused to a client that does not accept it', async () => {
    expect(service.document.paths['/answers/endless']?.get?.responses['200']).toMatchObject({
      content: { 'application/zip': { schema: { type: 'string', format: 'binary' } } },
    });
    const accept = 'application/json';
    const { body } = await service.request('GET', '/v1/answers/endless', { headers: { accept } });
    expect(body).toMatchObject({
      code: 'not_acceptable',
      message: expect.stringContaining('application/zip'),
    });
  });

  it('of a type that is not documented is refused by the kit', async () => {
    await expect(service.request('GET', '/v1/answers/texts')).rejects.toThrow(/text\/plain/);
  });

  it('is closed when an interceptor fails', async () => {
    const result = await service.request('GET', '/v1/answers/node-stream?how=fail');
    expect([result.status, result.body.code]).toEqual([500, 'internal_error']);
    expect(opened?.destroyed).toBe(true);
  });

  it('is closed when an interceptor has replaced it', async () => {
    const response = await fetch(`${service.url}/v1/answers/node-stream?how=replace`, { headers: headers() });
    expect(await response.text()).toContain('replaced');
    if (opened && !opened.destroyed) await once(opened, 'close');
    expect(opened?.destroyed).toBe(true);
  });
});

describe('a stream that an @Idempotent() operation returns', () => {
  it.each(['', '/file'])('is refused with an Idempotency-Key, and nothing is committed: %s', async (path) => {
    const send = (key: Record<string, string>) =>
      service.request('POST', `/v1/once${path}`, { headers: key });
    const before = (await service.request('GET', '/v1/pets')).text;
    for (let sent = 0; sent < 2; sent += 1) {
      const { status, body } = await send({ 'idempotency-key': 'k' });
      expect([status, body.code]).toEqual([500, 'internal_error']);
    }
    expect((await service.request('GET', '/v1/pets')).text).toBe(before);
    expect((await send({})).text).toBe('a');
  });
});
