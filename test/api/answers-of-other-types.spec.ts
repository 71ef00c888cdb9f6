import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { Controller, Get, Module } from '@nestjs/common';
import { beforeEach, describe, expect, it } from 'vitest';
import { openForAll } from '../support/opened.js';
import { described } from '../support/described.js';

const CSV = { contentType: 'text/csv' };
const ROWS = 5_000;
const ROW = `${'x'.repeat(999)}\n`;

let made = 0;
const ends = new EventEmitter();

async function* rows(): AsyncGenerator<string> {
  made = 0;
  try {
    yield 'id,name\n';
    for (; made < ROWS; made += 1) {
      await Promise.resolve();
      yield ROW;
    }
  } finally {
    ends.emit('ended');
  }
}

@Controller({ path: 'exports', version: '1' })
class ExportsController {
  @Get('generated')
  @described('generated', CSV)
  generated(): AsyncGenerator<string> {
    return rows();
  }

  @Get('stream')
  @described('stream', { contentType: 'application/zip' })
  stream(): Readable {
    return Readable.from(rows(), { objectMode: false });
  }

  @Get('text')
  @described('text', CSV)
  text(): string {
    return 'id,name\n1,Rex\n';
  }

  @Get('other')
  @described('other', CSV)
  other(): Response {
    return new Response('a', { headers: { 'Content-Type': 'text/html' } });
  }
}

@Module({ controllers: [ExportsController] })
class ExportsModule {}

const service = await openForAll({
  modules: [ExportsModule],
  environment: { RESPONSE_TIMEOUT_MS: '1000' },
});
beforeEach(() => service.clock.advance(60_000));

const request = (path: string) =>
  `GET /v1/exports/${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\n\r\n`;

describe('an operation that answers text/csv', () => {
  it.each([
    ['undefined', 200],
    ['text/csv', 200],
    ['application/json', 406],
  ])('respects Accept: %s: %i', async (accept, status) => {
    const headers: Record<string, string> = accept === 'undefined' ? {} : { accept };
    const answer = await service.request('GET', '/v1/exports/text', { headers });
    expect(answer.status).toBe(status);
    if (status === 406) expect(answer.body).toMatchObject({ code: 'not_acceptable', message: /text\/csv/ });
    else
      expect([answer.headers.get('content-type'), answer.text]).toEqual([
        'text/csv; charset=utf-8',
        'id,name\n1,Rex\n',
      ]);
  });

  it('is made only as fast as its client reads, and ends with a client that does not read', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    const ended = once(ends, 'ended');
    socket.write(request('generated'));
    await once(socket, 'readable');
    await ended;
    expect(made).toBeLessThan(ROWS);
    socket.destroy();
  });

  it('is documented with its type', () => {
    const content = (path: string) => {
      const response = service.document.paths[path]?.get?.responses['200'];
      return response && 'content' in response ? response.content : undefined;
    };
    expect(content('/exports/generated')).toEqual({ 'text/csv': { schema: { type: 'string' } } });
    expect(content('/exports/stream')).toEqual({
      'application/zip': { schema: { type: 'string', format: 'binary' } },
    });
  });

  it('is held against the document by the kit', async () => {
    await expect(service.request('GET', '/v1/exports/other')).rejects.toThrow(/text\/html/);
  });
});
