import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseRaw, sendRaw } from './support/raw-http.js';
import { TestService } from '../src/testing/test-service.js';

let service: TestService;
beforeAll(async () => {
  service = await TestService.open();
});
afterAll(() => service.close());

const END = '\r\n\r\n';
const withKey = () => `Authorization: Bearer ${service.key}\r\nConnection: close`;

describe('what never becomes a request', () => {
  it.each([
    ['no HTTP at all', `hello${END}`, 400, 'malformed_request'],
    ['an unknown method', `FETCH /v1/pets HTTP/1.1\r\nHost: a${END}`, 400, 'malformed_request'],
    ['an unknown version', `GET /v1/pets HTTP/9.9\r\nHost: a${END}`, 400, 'malformed_request'],
    ['a space in the target', `GET /v1/pe ts HTTP/1.1\r\nHost: a${END}`, 400, 'malformed_request'],
    ['a broken header', `GET /v1/pets HTTP/1.1\r\nHost: a\r\nno colon${END}`, 400, 'malformed_request'],
    [
      'a length that is no number',
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: x${END}`,
      400,
      'malformed_request',
    ],
    [
      'a length beside a transfer coding',
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked${END}`,
      400,
      'malformed_request',
    ],
    [
      'headers of 20 KiB',
      `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}${END}`,
      431,
      'headers_too_large',
    ],
    [
      'a target of 20 KiB',
      `GET /v1/${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a${END}`,
      431,
      'headers_too_large',
    ],
    ['a tunnel', `CONNECT example.com:443 HTTP/1.1\r\nHost: a${END}`, 405, 'method_not_allowed'],
    ['a TLS greeting', Buffer.from('16030100dc010000d80303', 'hex'), 400, 'malformed_request'],
  ])('gets the Error body: %s', async (_, bytes, expected, code) => {
    const { status, body, head } = parseRaw(await sendRaw(service.url, bytes));
    expect(status).toBe(expected);
    expect(body).toEqual({ code, message: expect.any(String), status: expected });
    expect(head).toMatch(/content-type: application\/json/i);
    expect(head).toMatch(/x-request-id: [\w-]{36}/i);
    expect(head).toMatch(/connection: close/i);
  });

  it('a request without Host gets the Error body', async () => {
    const { status, body } = parseRaw(
      await sendRaw(service.url, `GET /v1/pets HTTP/1.1\r\n${withKey()}${END}`),
    );
    expect([status, (body as { code: string }).code]).toEqual([400, 'malformed_request']);
  });
});

describe('what is unusual, but a request', () => {
  it.each([
    ['HTTP/1.0', () => `GET /v1/pets HTTP/1.0\r\n${withKey()}${END}`, 200],
    [
      'the absolute form of the target',
      () => `GET http://a/v1/pets HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`,
      200,
    ],
    [
      'an expectation other than 100-continue',
      () => `GET /v1/pets HTTP/1.1\r\nHost: a\r\nExpect: x\r\n${withKey()}${END}`,
      200,
    ],
    ['an upgrade', () => `GET /v1/pets HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n${withKey()}${END}`, 200],
    ['the asterisk form', () => `OPTIONS * HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 404],
    ['a path without a slash', () => `GET v1/pets HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 400],
    ['two slashes', () => `GET //v1/pets HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 404],
    ['a path of dots', () => `GET /v1/../v1/pets HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 404],
    ['capitals', () => `GET /V1/PETS HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 404],
    ['a trailing slash', () => `GET /v1/pets/ HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 404],
    ['an encoded slash', () => `GET /v1%2Fpets HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 404],
    ['a method of WebDAV', () => `PROPFIND /v1/pets HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 405],
    ['a trace', () => `TRACE /v1/pets HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 405],
    [
      'a body in chunks',
      () =>
        `POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${withKey()}${END}` +
        `10\r\n{"name":"Chunk",\r\n10\r\n"categoryId": 1}\r\n0${END}`,
      201,
    ],
  ])('%s', async (_, request, expected) => {
    const text = await sendRaw(service.url, request());
    expect(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])).toBe(expected);
    if (expected >= 400) expect(parseRaw(text).body).toMatchObject({ status: expected });
  });

  it('a target above 8,192 characters is 414, behind the quota', async () => {
    const { status, body, headers } = await service.request('GET', `/v1/pets?${'x'.repeat(8_192)}`);
    expect([status, body.code]).toEqual([414, 'uri_too_long']);
    expect(headers.has('x-ratelimit-remaining')).toBe(true);
  });

  it('pipelined requests are answered in order', async () => {
    const one = `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}${END}`;
    const last = `GET /v1/nothing HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`;
    const statuses = [...(await sendRaw(service.url, one + one + last)).matchAll(/HTTP\/1\.1 (\d{3})/g)].map(
      ([, status]) => status,
    );
    expect(statuses).toEqual(['200', '200', '404']);
  });
});
