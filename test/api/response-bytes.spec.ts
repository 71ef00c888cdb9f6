import { Controller, Get, Module } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { expect, it } from 'vitest';
import { Public } from '../../src/auth/auth.decorators.js';
import { described } from '../support/described.js';
import { openForAll, openForTest } from '../support/opened.js';

const LATIN = 'Café del Río';

/** Sets a header with a character that is not ASCII, which Node.js sends as Latin-1. */
function named(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader('X-Store', LATIN);
  next();
}

/** Makes responses end with text that is not ASCII, as a middleware that adds a script to pages does. */
function extend(response: Response): void {
  const { writeHead, end } = response as unknown as Record<string, (...args: unknown[]) => Response>;
  Object.assign(response, {
    writeHead(this: Response, ...args: unknown[]) {
      this.removeHeader('Content-Length');
      return writeHead?.apply(this, args);
    },
    end(this: Response, text: string, ...rest: unknown[]) {
      return end?.call(this, `${text}…`, ...rest);
    },
  });
}

function extending({ originalUrl }: Request, response: Response, next: NextFunction): void {
  if (originalUrl.includes('extended')) extend(response);
  next();
}

@Controller({ path: 'notes', version: '1' })
class NotesController {
  @Get()
  @Public()
  @described('note', { contentType: 'text/plain' })
  read(): string {
    return 'Łucja';
  }
}

@Module({ controllers: [NotesController] })
class NotesModule {}

const service = await openForAll({
  modules: [NotesModule],
  prepare: (app) => app.use(named, extending),
});

it.each([
  ['ASCII', 'Rex'],
  ['Latin-1', 'Zoë'],
  ['of several bytes', 'Łucja 🐕'],
])('a name that is %s is sent with its length, alone and in a list', async (_, name) => {
  const added = await service.request('POST', '/v1/pets', { json: { name, categoryId: 1 } });
  expect([added.status, added.body.name]).toEqual([201, name]);
  for (const path of [`/v1/pets/${added.body.id}`, '/v1/pets?limit=100', '/v1/pets?limit=100']) {
    const { status, text, headers } = await service.request('GET', path);
    expect([status, text.includes(name)]).toEqual([200, true]);
    expect(Number(headers.get('content-length'))).toBe(Buffer.byteLength(text));
    expect(headers.get('x-store')).toBe(LATIN);
  }
});

it('a text that is not JSON leaves the headers as they are', async () => {
  const { text, headers } = await service.request('GET', '/v1/notes');
  expect([text, headers.get('x-store')]).toEqual(['Łucja', LATIN]);
});

it('a middleware may add other characters to a text', async () => {
  const response = await fetch(`${service.url}/v1/pets?extended`);
  expect(await response.text()).toMatch(/^\{"code":"missing_api_key",.*\}…$/);
});

it('an application may add them to the responses of Express', async () => {
  const extended = await openForTest({
    prepare: (app) => extend((app.getHttpAdapter().getInstance() as { response: Response }).response),
  });
  const response = await fetch(`${extended.url}/v1/pets`);
  expect(await response.text()).toMatch(/^\{"code":"missing_api_key",.*\}…$/);
});
