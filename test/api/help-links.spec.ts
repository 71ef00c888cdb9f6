import { Controller, ConflictException, Get, Module } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { Public } from '../../src/auth/auth.decorators.js';
import { ApiError } from '../../src/core/errors/api-error.js';
import { defineErrors } from '../../src/core/errors/define-errors.js';
import { parseRaw, sendRaw } from '../support/raw-http.js';
import { openForAll } from '../support/opened.js';

const TOY_ERRORS = defineErrors({
  toy_broken_for_help: {
    status: 409,
    message: 'The toy is broken.',
    cause: 'Somebody played with it <b>too hard</b>.',
    remedy: 'Mend it.',
  },
});

@Public()
@Controller('toys-for-help')
class ToysController {
  @Get('broken')
  broken(): never {
    throw new ApiError(TOY_ERRORS.toy_broken_for_help, { headers: { Link: '</toys>; rel="up"' } });
  }

  @Get('conflict')
  conflict(): never {
    throw new ConflictException('Another toy is there.');
  }
}

@Module({ controllers: [ToysController] })
class ToysModule {}

const PREFIX = '/petstore';
const service = await openForAll({
  modules: [ToysModule],
  environment: { PUBLIC_BASE_URL: `https://shop.example${PREFIX}/v1` },
});

const helpOf = (code: string) => `<${PREFIX}/docs/errors#${code}>; rel="help"`;

describe('a refusal links to what explains it', () => {
  it.each([
    ['/v1/pets', 'missing_api_key'],
    ['/%zz', 'malformed_request'],
  ])('%s: %s', async (path, code) => {
    const response = await fetch(service.url + path);
    expect((await response.json()) as object).toMatchObject({ code });
    expect(response.headers.get('link')).toBe(helpOf(code));
  });

  it('behind the link in the refusal, with a code that a module has added', async () => {
    const response = await fetch(`${service.url}/toys-for-help/broken`);
    expect(response.headers.get('link')).toBe(`</toys>; rel="up", ${helpOf('toy_broken_for_help')}`);
  });

  it('unless its code is in no catalogue, so that the page says nothing of it', async () => {
    const response = await fetch(`${service.url}/toys-for-help/conflict`);
    expect(await response.json()).toMatchObject({ code: 'conflict' });
    expect(response.headers.get('link')).toBe(null);
  });

  it('also when it never became a request', async () => {
    const { head } = parseRaw(await sendRaw(service.url, 'hello\r\n\r\n'));
    expect(head).toContain(`Link: ${helpOf('malformed_request')}`);
  });
});

it('the page of errors names operations by the paths at which they are called', async () => {
  const text = await (await fetch(`${service.url}/docs/errors`)).text();
  const named = [...text.matchAll(/<code>((?:GET|POST|PATCH|DELETE) \/[^<?]*)/g)].map(([, one]) => one);
  const called = new Set(
    service.documents.flatMap(({ base, document }) =>
      Object.entries(document.paths).flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${method.toUpperCase()} ${base}${path}`),
      ),
    ),
  );
  expect(named).toContain('POST /admin/keys');
  expect(named.filter((one = '') => !called.has(one))).toEqual([]);
});
