import { createHmac, timingSafeEqual } from 'node:crypto';
import { Body, Controller, Headers, Module, Post, RawBody } from '@nestjs/common';
import { ApiConsumes, ApiProperty } from '@nestjs/swagger';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/core/errors/api-error.js';
import { HTTP_ERRORS } from '../../src/core/errors/http.errors.js';
import { API_DOCUMENT } from '../../src/docs/openapi/document-outlines.js';
import { buildDocument } from '../../src/docs/openapi/document.js';
import { Consumes } from '../../src/http/body/consumes.decorator.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { Int64 } from '../../src/http/validation/fields.js';
import { UNLIMITED, openForAll } from '../support/opened.js';
import { described } from '../support/described.js';

const SECRET = 'of the webhook';
const signatureOf = (bytes: Uint8Array) => createHmac('sha256', SECRET).update(bytes).digest('hex');

class Payment {
  @Int64()
  amount!: bigint;
}

class Received {
  @ApiProperty()
  hex!: string;

  @ApiProperty({ required: false })
  amount?: bigint;
}

const operation = (id: string) => described(id, { type: Received });
const hex = (bytes: Buffer | undefined) => bytes?.toString('hex') ?? 'none';

@Controller({ path: 'hooks', version: '1' })
class HooksController {
  @Post('signed')
  @operation('signed')
  signed(
    @RawBody() bytes: Buffer,
    @Body() { amount }: Payment,
    @Headers('x-signature') signature: string,
  ): Received {
    const [own, sent] = [Buffer.from(signatureOf(bytes)), Buffer.from(signature)];
    if (own.length !== sent.length || !timingSafeEqual(own, sent))
      throw new ApiError(HTTP_ERRORS.malformed_request, { params: { reason: 'its signature is wrong' } });
    return { hex: hex(bytes), amount };
  }

  @Post('any')
  @Consumes('*/*', { limitBytes: 20_000 })
  @operation('any')
  any(@RawBody() bytes: Buffer): Received {
    return { hex: hex(bytes) };
  }

  @Post('any-parsed')
  @Consumes('*/*')
  @operation('anyParsed')
  anyParsed(
    @RawBody() bytes: Buffer,
    @Body({ transform: (value: unknown) => value }) body: { amount?: bigint } | undefined,
  ): Received {
    return { hex: hex(bytes), ...(body?.amount === undefined ? {} : { amount: body.amount }) };
  }

  @Post('picture')
  @ApiConsumes('image/gif')
  @Consumes('image/png')
  @operation('picture')
  picture(@RawBody() bytes: Buffer): Received {
    return { hex: hex(bytes) };
  }

  @Post('once')
  @Idempotent()
  @Consumes('application/octet-stream')
  @operation('once')
  once(@RawBody() bytes: Buffer): Received {
    return { hex: hex(bytes) };
  }
}

@Module({ controllers: [HooksController] })
class HooksModule {}

describe('@RawBody() of an operation', async () => {
  const service = await openForAll({
    modules: [HooksModule],
    ...UNLIMITED,
    environment: { BODY_LIMIT_BYTES: '10000' },
  });

  const post = async (path: string, body: string | Uint8Array, type: string, more = {}) =>
    service.request('POST', `/v1/hooks/${path}`, {
      body: body as Uint8Array<ArrayBuffer>,
      headers: { 'content-type': type, ...more },
    });

  it('is byte for byte what was sent, alongside the parsed body', async () => {
    const sent = Buffer.from('{ "amount" :9223372036854775807 }\n');
    const response = await post('signed', sent, 'application/json', { 'x-signature': signatureOf(sent) });
    expect([response.status, response.text]).toEqual([
      200,
      `{"hex":"${sent.toString('hex')}","amount":9223372036854775807}`,
    ]);
    const forged = await post('signed', `${String(sent)} `, 'application/json', {
      'x-signature': signatureOf(sent),
    });
    expect(forged.body.message).toContain('signature is wrong');
  });

  it('is of the types that the document names, by whichever decorator', async () => {
    const { paths } = buildDocument(service.app, API_DOCUMENT);
    const content = { 'image/gif': {}, 'image/png': {} };
    expect(paths['/hooks/picture']?.post?.requestBody).toMatchObject({ content });
    const statuses = ['image/gif', 'image/png', 'image/bmp'].map(
      async (type) => (await post('picture', 'bytes', type)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 415]);
  });

  it('is any bytes of any type', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.constantFrom(
          'application/json',
          'text/plain',
          'application/x-www-form-urlencoded',
          'a/b; c="d;e"',
        ),
        async (bytes, type) => {
          const response = await post('any', bytes, type);
          expect([response.status, response.body.hex]).toEqual([200, Buffer.from(bytes).toString('hex')]);
        },
      ),
      { numRuns: 40 },
    );
  });

  it.each([
    ['of JSON: parsed', '{"amount":1}', 'application/json', 200, { amount: 1 }],
    ['of another type: not parsed', '{"amount":1}', 'text/plain', 200, { amount: undefined }],
    [
      'of JSON in another charset',
      '{}',
      'application/json; charset=latin1',
      415,
      { code: 'unsupported_media_type' },
    ],
  ])('with @Body() in the same handler, and a body %s', async (_, body, type, status, expected) => {
    const response = await post('any-parsed', body, type);
    expect([response.status, { amount: undefined, ...response.body }]).toMatchObject([status, expected]);
  });

  it.each([
    ['any', 20_001, 413],
    ['any-parsed', 10_001, 413],
  ])('has a limit: %s, %i bytes, %i', async (path, length, status) => {
    expect((await post(path, 'x'.repeat(length), 'text/plain')).status).toBe(status);
  });

  it('distinguishes requests with one Idempotency-Key', async () => {
    const send = (body: string) => post('once', body, 'application/octet-stream', { 'idempotency-key': 'k' });
    const [first, again, other] = [await send('a'), await send('a'), await send('b')];
    expect([first.status, again.headers.get('idempotent-replayed'), other.status]).toEqual([
      200,
      'true',
      422,
    ]);
  });
});
