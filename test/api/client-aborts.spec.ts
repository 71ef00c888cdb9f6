import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as later } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import {
  Body,
  Controller,
  Get,
  Module,
  Post,
  Req,
  Res,
  StreamableFile,
  UploadedFile,
  UseInterceptors,
} from '@nestjs/common';
import { FileInterceptor } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { Public } from '../../src/auth/auth.decorators.js';
import { Consumes } from '../../src/http/body/consumes.decorator.js';
import { openForAll } from '../support/opened.js';
import { openSocket } from '../support/raw-http.js';

const PIECE = Buffer.alloc(65_536);

/** What has started, in this test. */
let started: string[] = [];

/** Takes its time before the chain, like a credential or a quota that another server knows. */
function slow({ path }: Request, _: Response, next: NextFunction): void {
  if (path !== '/guarded') {
    next();
    return;
  }
  started.push('guard');
  later(next, 300);
}

async function* pieces() {
  for (;;) {
    started.push('response');
    yield PIECE;
    await setTimeout(1);
  }
}

@Public()
@Controller()
class AbortedController {
  @Post('guarded')
  guarded(@Body() body: unknown): unknown {
    return body;
  }

  @Get('guarded')
  read(): object {
    return {};
  }

  @Post('json')
  json(@Body() body: unknown): unknown {
    return body;
  }

  @Post('file')
  @Consumes('multipart/form-data')
  @UseInterceptors(FileInterceptor('file'))
  file(@UploadedFile() file: object): object {
    return file;
  }

  @Post('stream')
  @Consumes('application/octet-stream')
  async stream(@Req() request: Request): Promise<object> {
    const target = new Writable({
      write: (_chunk, _encoding, done) => {
        started.push('stream');
        done();
      },
    });
    await pipeline(request, target);
    return {};
  }

  @Get('signal')
  async signal(@Res({ passthrough: true }) response: Response): Promise<object> {
    const abort = new AbortController();
    response.once('close', () => abort.abort());
    started.push('handler');
    await setTimeout(60_000, undefined, { signal: abort.signal });
    return {};
  }

  @Get('streamable')
  streamable(): StreamableFile {
    return new StreamableFile(Readable.from(pieces()));
  }

  @Get('generator')
  generator(): AsyncIterable<Buffer> {
    return pieces();
  }

  @Get('piped')
  async piped(@Res() response: Response): Promise<void> {
    await pipeline(Readable.from(pieces()), response);
  }
}

@Module({ controllers: [AbortedController] })
class AbortedModule {}

const service = await openForAll({
  modules: [AbortedModule],
  environment: { LOG_LEVEL: 'error' },
  prepare: (app) => app.use(slow),
});
/** Errors that were logged. */
const errors: unknown[][] = [];
service.app.useLogger({
  error: (...line: unknown[]) => void errors.push(line),
  log: () => undefined,
  warn: () => undefined,
});

const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf of it';
const body = (type: string, text: string) => `Content-Type: ${type}\r\nContent-Length: 5000\r\n\r\n${text}`;

/** Heads and halves of bodies, each with what is to start before the client goes; 'read' is that the service has read it. */
const MOMENTS: readonly (readonly [moment: string, request: string, expectedStart: string])[] = [
  [
    'while its key is looked up, with half a body',
    `POST /guarded HTTP/1.1\r\n${body('application/json', '{')}`,
    'guard',
  ],
  ['while its key is looked up, without a body', 'GET /guarded HTTP/1.1\r\n\r\n', 'guard'],
  ['in the middle of the body', `POST /json HTTP/1.1\r\n${body('application/json', '{')}`, 'read'],
  [
    'in the middle of a compressed body',
    `POST /json HTTP/1.1\r\nContent-Encoding: gzip\r\n${body('application/json', '\x1f')}`,
    'read',
  ],
  [
    'in the middle of a chunk',
    'POST /json HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{',
    'read',
  ],
  [
    'in the middle of a file',
    `POST /file HTTP/1.1\r\n${body('multipart/form-data; boundary=x', part)}`,
    'read',
  ],
  [
    'while the handler reads the body',
    `POST /stream HTTP/1.1\r\n${body('application/octet-stream', 'half')}`,
    'stream',
  ],
  ['while the handler works', 'GET /signal HTTP/1.1\r\n\r\n', 'handler'],
  ['while a file is sent', 'GET /streamable HTTP/1.1\r\n\r\n', 'response'],
  ['while an iterable is sent', 'GET /generator HTTP/1.1\r\n\r\n', 'response'],
  ['while a handler writes', 'GET /piped HTTP/1.1\r\n\r\n', 'response'],
];

describe('a client that disconnects', () => {
  describe.each(['closes', 'resets'])('and %s its connection', (how) => {
    it.each(MOMENTS)('%s is one 499 and no error', async (_, request, expectedStart) => {
      [started, errors.length] = [[], 0];
      const count = async (labels = {}) => (await service.metric('http_requests_total', labels)) ?? 0;
      const [before, all] = [await count({ status: '499' }), await count()];
      const socket = await openSocket(service.url);
      socket.write(request.replace('\r\n', '\r\nHost: a\r\n'));
      if (expectedStart === 'read') await service.request('GET', '/health/live');
      else await expect.poll(() => started).toContain(expectedStart);
      if (how === 'closes') socket.destroy();
      else socket.resetAndDestroy();
      await expect.poll(() => count({ status: '499' })).toBe(before + 1);
      // Whatever follows in the chain.
      await setTimeout(expectedStart === 'guard' ? 400 : 50);
      expect(errors).toEqual([]);
      expect(await count()).toBe(all + 1 + (expectedStart === 'read' ? 1 : 0));
    });
  });
});
