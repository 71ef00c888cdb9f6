import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { faultsOf } from '../../support/faults.js';
import { UNLIMITED, openForAll } from '../../support/opened.js';

const service = await openForAll(UNLIMITED);

const post = (json: unknown, headers?: Record<string, string>) =>
  service.request('POST', '/v1/pets', { json, ...(headers ? { headers } : {}) });

describe('POST /v1/pets', () => {
  it('adds an animal and returns it with its id and URL', async () => {
    const { status, body, headers } = await post({ name: 'Biscuit', categoryId: 7, status: 'pending' });
    expect(status).toBe(201);
    expect(body).toEqual({ id: expect.any(Number), name: 'Biscuit', categoryId: 7, status: 'pending' });
    expect(headers.get('location')).toBe(`/v1/pets/${body.id}`);
    const fetched = await service.request('GET', headers.get('location') ?? '');
    expect(fetched.text).toBe(JSON.stringify(body));
  });

  it('creates it as available when no status is sent', async () => {
    expect((await post({ name: 'Luna', categoryId: 1 })).body.status).toBe('available');
  });

  it.each([
    ['255 characters', 'n'.repeat(255)],
    ['255 characters outside the basic plane', '🐕'.repeat(255)],
    ['255 characters with variation selectors', '❤️'.repeat(127) + 'x'],
    ['spaces around it', '  Luna  '],
    ['quotes and a backslash', `"O'Brien" \\ <b>`],
    ['another script', 'لولو'],
    ['control characters other than NUL', 'a\u0001\tb\n'],
    ['the text of a query', `'; DROP TABLE pets; --`],
    ['the name of a built-in', '__proto__'],
  ])('returns the name as sent: %s', async (_, name) => {
    const { status, body } = await post({ name, categoryId: 1 });
    expect(status).toBe(201);
    expect(body.name).toBe(name);
    expect((await service.request('GET', `/v1/pets/${body.id}`)).body.name).toBe(name);
  });

  it.each([
    ['no name', '{"categoryId":1}', ['name required']],
    ['no category', '{"name":"a"}', ['categoryId required']],
    ['a numeric name', '{"name":5,"categoryId":1}', ['name not_a_string']],
    ['a name that is an object', '{"name":{"hasOwnProperty":1},"categoryId":1}', ['name not_a_string']],
    ['a blank name', '{"name":" \\t\\u200b\\u00a0","categoryId":1}', ['name blank']],
    ['a name of 256 characters', `{"name":"${'n'.repeat(256)}","categoryId":1}`, ['name too_long']],
    ['NUL in the name', '{"name":"a\\u0000b","categoryId":1}', ['name forbidden_character']],
    ['half a surrogate pair', '{"name":"a\\ud83d","categoryId":1}', ['name forbidden_character']],
    [
      'a long name with NUL',
      `{"name":"${'n'.repeat(256)}\\u0000","categoryId":1}`,
      ['name forbidden_character', 'name too_long'],
    ],
    ['a category in quotes', '{"name":"a","categoryId":"1"}', ['categoryId not_an_integer']],
    ['a category written 1.0', '{"name":"a","categoryId":1.0}', ['categoryId not_an_integer']],
    ['a category beyond every number', '{"name":"a","categoryId":1e999}', ['categoryId not_an_integer']],
    ['a category of 2⁶³', '{"name":"a","categoryId":9223372036854775808}', ['categoryId out_of_range']],
    ['a category below −2⁶³', '{"name":"a","categoryId":-9223372036854775809}', ['categoryId out_of_range']],
    ['a status of null', '{"name":"a","categoryId":1,"status":null}', ['status not_allowed_value']],
    ['an unknown status', '{"name":"a","categoryId":1,"status":"lost"}', ['status not_allowed_value']],
    ['an unknown field', '{"name":"a","categoryId":1,"staus":"sold"}', ['staus unknown_field']],
    [
      'everything at once',
      '{"name":"","categoryId":"x","status":"y","z":1}',
      ['categoryId not_an_integer', 'name blank', 'status not_allowed_value', 'z unknown_field'],
    ],
    ['an array', '[{"name":"a","categoryId":1}]', [' not_an_object']],
    ['null', 'null', [' not_an_object']],
  ])('refuses %s, with every error', async (_, text, faults) => {
    const created = await post(text);
    expect([created.status, created.body.code]).toEqual([400, 'validation_failed']);
    expect(faultsOf(created).toSorted()).toEqual(faults);
  });

  it.each<[what: string, text: string, says?: RegExp]>([
    ['empty text', ' '],
    ['two documents', '{}{}'],
    ['a member named twice', '{"name":"a","name":"b","categoryId":1}', /name/],
    ['a member named twice behind a prototype', '{"name":{},"name":{"__proto__":{}}}'],
    ['a prototype', '{"__proto__":1}', /__proto__/],
    ['a prototype named twice', '{"__proto__":1,"__proto__":1}'],
    ['a name nested 64 levels deep', `{"name":${'['.repeat(64)}${']'.repeat(64)}}`],
    ['a name nested 1,314 levels deep', `{"name":${'['.repeat(1_314)}${']'.repeat(1_314)}}`],
    ['a number of 1,001 digits', `{"name":"a","categoryId":${'9'.repeat(1_001)}}`],
    ['nesting without end', '['.repeat(50_000)],
    ['a member without a colon', '{"name" 1}', /position 8/],
    ['an object without an end', '{"name":1', /end/],
    ['a character beyond the basic plane', '🐕', /position 0/],
    ['an unknown escape', '["\\q"]', /position \d/],
  ])('refuses %s as malformed, and says where it is wrong', async (_, text, says = /./) => {
    const created = await post(text);
    expect([created.status, created.body.code]).toEqual([400, 'malformed_json']);
    expect(created.body.message).toMatch(says);
    expect([created.body.message, created.text].every((shown: string) => shown.isWellFormed())).toBe(true);
  });

  it('refuses a value nested to the limit by its rule, and accepts brackets in a text', async () => {
    const { status, body } = await post(`{"name":${'['.repeat(63)}${']'.repeat(63)},"categoryId":1}`);
    expect([status, body.details?.[0].code]).toEqual([400, 'not_a_string']);
    expect((await post({ name: '[{'.repeat(127), categoryId: 1 })).status).toBe(201);
  });

  it('refuses bytes that are not UTF-8', async () => {
    const response = await fetch(`${service.url}/v1/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'malformed_json' });
  });

  it.each([
    ['plain text', 'text/plain'],
    ['another charset', 'application/json; charset=iso-8859-1'],
    ['no type', ''],
  ])('refuses a body of %s with 415', async (_, type) => {
    const { status, body } = await post('{"name":"a","categoryId":1}', { 'content-type': type });
    expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
  });

  it('says for another charset which one it accepts', async () => {
    const { body } = await post('{}', { 'content-type': 'application/json; charset=iso-8859-1' });
    expect(body.message).toContain('UTF-8');
  });

  it('accepts a body compressed with gzip, and measures it decompressed', async () => {
    const send = (text: string) =>
      fetch(`${service.url}/v1/pets`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${service.key}`,
          'content-type': 'application/json',
          'content-encoding': 'gzip',
        },
        body: gzipSync(text),
      });
    expect((await send('{"name":"Zip","categoryId":1}')).status).toBe(201);
    expect((await send(`{"name":"${'n'.repeat(200_000)}"}`)).status).toBe(413);
  });

  it.each([
    ['an unknown coding', 'lzma', 415],
    ['a coding that every object has', 'constructor', 415],
    ['another', '__proto__', 415],
    ['gzip that is none', 'gzip', 400],
  ])('refuses %s', async (_, coding, expected) => {
    const { status } = await post('{"name":"a","categoryId":1}', { 'content-encoding': coding });
    expect(status).toBe(expected);
  });

  it.each([102_401, 5_000_000])('refuses a body of %i bytes with 413', async (size) => {
    const { status, body } = await post(`"${'x'.repeat(size - 2)}"`);
    expect([status, body.code]).toEqual([413, 'payload_too_large']);
  });
});
