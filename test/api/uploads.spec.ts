import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Body,
  Controller,
  Module,
  ParseFilePipe,
  Post,
  Req,
  UploadedFile,
  UseInterceptors,
} from '@nestjs/common';
import { FileInterceptor } from '@nestjs/platform-express';
import { ApiProperty } from '@nestjs/swagger';
import type { Request } from 'express';
import { afterAll, describe, expect, it } from 'vitest';
import { Consumes } from '../../src/http/body/consumes.decorator.js';
import { Integer, Text } from '../../src/http/validation/fields.js';
import { parseRaw, sendRaw } from '../support/raw-http.js';
import { responseOf } from '../kit/contract.js';
import { openForAll } from '../support/opened.js';
import { described } from '../support/described.js';

const folder = mkdtempSync(join(tmpdir(), 'petstore-uploads-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What streams of bodies failed with. */
const failures: string[] = [];
/** Emits an event when a handler starts to read a body. */
const reading = new EventEmitter();

interface UploadedPhoto {
  readonly originalname: string;
  readonly size: number;
}

class NewPhoto {
  @Text({ description: 'What it shows', maxLength: 100 })
  title!: string;

  @Integer({ description: 'Width in pixels', minimum: 1, maximum: 10_000, optional: true })
  width?: number;

  @ApiProperty({ type: 'string', format: 'binary', description: 'The photo' })
  photo!: unknown;
}

class PhotoDto {
  @ApiProperty()
  title!: string;

  @ApiProperty({ required: false })
  width?: number;

  @ApiProperty()
  name!: string;

  @ApiProperty()
  bytes!: number;
}

class Received {
  @ApiProperty()
  bytes!: number;
}

@Controller({ path: 'photos', version: '1' })
class PhotosController {
  @Post()
  @Consumes('multipart/form-data')
  @UseInterceptors(FileInterceptor('photo', { dest: folder }))
  @described('addPhoto', { status: 201, type: PhotoDto })
  add(@UploadedFile(new ParseFilePipe()) photo: UploadedPhoto, @Body() { title, width }: NewPhoto): PhotoDto {
    return { title, name: photo.originalname, bytes: photo.size, ...(width === undefined ? {} : { width }) };
  }

  @Post('large')
  @Consumes('multipart/form-data', { limitBytes: 2_000_000 })
  @UseInterceptors(FileInterceptor('photo', { dest: folder, limits: { fileSize: 1_000_000, fields: 1 } }))
  @described('addLargePhoto', { status: 201, type: PhotoDto })
  addLarge(@UploadedFile() photo: UploadedPhoto, @Body() { title }: NewPhoto): PhotoDto {
    return { title, name: photo.originalname, bytes: photo.size };
  }

  /** Reads the request as a stream. */
  @Post('streamed')
  @Consumes('image/*', { limitBytes: 2_000_000 })
  @described('streamPhoto', { status: 201, type: Received })
  async stream(@Req() request: Request): Promise<Received> {
    let bytes = 0;
    reading.emit('begins');
    try {
      for await (const piece of request as AsyncIterable<Buffer>) bytes += piece.length;
    } catch (error) {
      failures.push((error as Error).message);
      throw error;
    }
    return { bytes };
  }
}

@Module({ controllers: [PhotosController] })
class PhotosModule {}

const service = await openForAll({
  modules: [PhotosModule],
  environment: { BODY_LIMIT_BYTES: '10000' },
});
/** Waits a second for a request. */
const hasty = await openForAll({ modules: [PhotosModule], environment: { REQUEST_TIMEOUT_MS: '1000' } });

function form(fields: Readonly<Record<string, string | Blob>>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  return data;
}

const photo = (bytes: number) => new File(['x'.repeat(bytes)], 'Zoë €.png', { type: 'image/png' });

async function post(
  path: string,
  body: NonNullable<RequestInit['body']>,
  headers: Readonly<Record<string, string>> = {},
) {
  return service.request('POST', path, { body, headers });
}

/** How many files there are. */
const files = (): number => readdirSync(folder).length;

describe('an upload with Nest’s FileInterceptor', () => {
  it('is received, its text fields read as those of a query', async () => {
    const { status, body } = await post(
      '/v1/photos',
      form({ title: 'Rex', width: '640', photo: photo(100) }),
    );
    expect([status, body]).toEqual([201, { title: 'Rex', width: 640, name: 'Zoë €.png', bytes: 100 }]);
    expect(readdirSync(folder)).toHaveLength(1);
    rmSync(join(folder, readdirSync(folder)[0] ?? ''));
  });

  it.each([
    ['a field that is invalid', form({ title: ' ', photo: photo(1) }), 'title'],
    ['a number that is none', form({ title: 'a', width: '1.5', photo: photo(1) }), 'width'],
    ['a field that is unknown', form({ title: 'a', color: 'red', photo: photo(1) }), 'color'],
    ['a file that is unknown', form({ title: 'a', other: photo(1), photo: photo(1) }), 'other'],
  ])('is refused for %s, and leaves no file', async (_, body, field) => {
    const response = await post('/v1/photos', body);
    expect([response.status, response.body.code]).toEqual([400, 'validation_failed']);
    expect(response.body.details.map((fault: { field: string }) => fault.field)).toEqual([field]);
    await expect.poll(files).toBe(0);
  });

  const boundary = { 'content-type': 'multipart/form-data; boundary=x' };
  const part = '--x\r\nContent-Disposition: form-data; name="title"\r\n\r\nRex\r\n';
  it.each([
    ['that ends in the middle', part, boundary],
    [
      'whose file ends in the middle',
      '--x\r\nContent-Disposition: form-data; name="photo"; filename="a"\r\n\r\nab',
      boundary,
    ],
    [
      'with a part behind its file that no one would receive',
      '--x\r\nContent-Disposition: form-data; name="photo"; filename="a"\r\n\r\nab\r\n--x\r\n\r\n\r\n--x--',
      boundary,
    ],
  ])('is malformed %s', async (_, body, headers) => {
    const response = await post('/v1/photos', body, headers);
    expect([response.status, response.body.code]).toEqual([400, 'malformed_request']);
    await expect.poll(files).toBe(0);
  });

  it.each([
    ['BODY_LIMIT_BYTES', '/v1/photos', 10_000],
    ['the size of a file', '/v1/photos/large', 1_000_001],
  ])('is refused beyond %s, announced and chunked, and leaves no file', async (_, path, bytes) => {
    const body = form({ title: 'Rex', photo: photo(bytes) });
    const encoded = new Response(body);
    const type = { 'content-type': encoded.headers.get('content-type') ?? '' };
    for (const sent of [body, encoded.body as ReadableStream]) {
      const response = await post(path, sent, sent === body ? {} : type);
      expect([response.status, response.body.code]).toEqual([413, 'payload_too_large']);
    }
    await expect.poll(files).toBe(0);
  });

  it.each([
    ['another type', { 'content-type': 'application/json' }],
    ['a coding', { ...boundary, 'content-encoding': 'gzip' }],
  ])('is refused with %s', async (_, headers) => {
    const response = await post('/v1/photos', part, headers);
    expect([response.status, response.body.code]).toEqual([415, 'unsupported_media_type']);
    expect(response.body.message).toContain('multipart/form-data');
  });

  it('that is aborted leaves no file, and the service continues', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write(head('/v1/photos', 9_000) + fileOf(1_000));
    await expect.poll(files).toBe(1);
    socket.destroy();
    await expect.poll(files).toBe(0);
    expect((await post('/v1/photos', form({ photo: photo(1) }))).status).toBe(400);
  });

  it('that stalls gets 408, and leaves no file', async () => {
    const response = parseRaw(
      await sendRaw(hasty.url, head('/v1/photos', 9_000, '', hasty.key) + fileOf(1_000)),
    );
    expect([response.status, response.body]).toMatchObject([408, { code: 'request_timeout' }]);
    await expect.poll(files).toBe(0);
  });

  it('is read only when its caller is admitted: without a key 100 Continue is not sent', async () => {
    const expecting = (key: string) => head('/v1/photos', 9_000, `Expect: 100-continue\r\n`, key);
    const refused = await sendRaw(service.url, expecting('no-key'));
    expect(refused).toMatch(/^HTTP\/1\.1 401 /);
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1').setEncoding('utf8');
    socket.write(expecting(service.key));
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 100 Continue/);
    socket.destroy();
  });

  it('is documented as multipart/form-data', () => {
    const addPhoto = service.document.paths['/photos']?.post;
    expect(addPhoto?.requestBody).toEqual({
      required: true,
      content: { 'multipart/form-data': { schema: { $ref: '#/components/schemas/NewPhoto' } } },
    });
    expect(service.document.components?.schemas?.['NewPhoto']).toMatchObject({
      required: ['title', 'photo'],
      properties: { photo: { type: 'string', format: 'binary' } },
      additionalProperties: false,
    });
    assert.ok(addPhoto);
    expect(responseOf(addPhoto, '400', service.document)).not.toHaveProperty(
      'content.application/json.examples.malformed_json',
    );
  });
});

describe('a body that the handler reads as a stream', () => {
  it.each(['image/png', 'image/svg+xml; charset=utf-8'])('is passed on as it comes: %s', async (type) => {
    const response = await post('/v1/photos/streamed', 'x'.repeat(1_500_000), { 'content-type': type });
    expect([response.status, response.body]).toEqual([201, { bytes: 1_500_000 }]);
  });

  it('fails at its limit with 413', async () => {
    const endless = new ReadableStream({ pull: (to) => to.enqueue(Buffer.alloc(65_536)) });
    const response = await post('/v1/photos/streamed', endless, { 'content-type': 'image/png' });
    expect([response.status, response.body.code]).toEqual([413, 'payload_too_large']);
  });

  const streamed = (key: string) =>
    head('/v1/photos/streamed', 9_000, '', key).replace(/multipart[^\r]*/, 'image/png');

  it('fails when it is broken off, so that nothing of its handler is left waiting', async () => {
    failures.length = 0;
    const started = once(reading, 'begins');
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write(`${streamed(service.key)}x`);
    await started;
    socket.end();
    await expect.poll(() => failures).toHaveLength(1);
    socket.destroy();
  });
});

const fileOf = (bytes: number) =>
  `--x\r\nContent-Disposition: form-data; name="photo"; filename="a"\r\n\r\n${'x'.repeat(bytes)}`;

const head = (path: string, length: number, fields = '', key = service.key) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n${fields}` +
  `Content-Type: multipart/form-data; boundary=x\r\nContent-Length: ${length}\r\n\r\n`;
