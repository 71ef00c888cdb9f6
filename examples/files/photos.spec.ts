import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pet } from 'petstore-service/pets';
import { TestService, defineFixture } from 'petstore-service/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PhotosModule } from './photos.module.js';

const PET = defineFixture(Pet, (number) => ({ name: `Pet ${number}`, categoryId: 1n, status: 'available' }));
const PNG = { 'content-type': 'image/png' };
const NOW = '2026-12-24T18:00:00.000Z';

const folder = mkdtempSync(join(tmpdir(), 'photos-'));
let service: TestService;
let path: string;
beforeAll(async () => {
  for (const [name, minutes] of [
    ['1.old.part', 61],
    ['1.new.part', 59],
  ] as const) {
    writeFileSync(join(folder, name), 'x');
    const at = Date.parse(NOW) / 1_000 - minutes * 60;
    utimesSync(join(folder, name), at, at);
  }
  const environment = { PHOTOS_FOLDER: folder, REQUEST_TIMEOUT_MS: '1000' };
  service = await TestService.open({ modules: [PhotosModule], environment, at: NOW });
  path = `/v1/photos/${(await service.add(PET)).id}`;
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const put = (body: string, to = path) => service.request('PUT', to, { body, headers: PNG });
const get = (headers = {}) => service.request('GET', path, { headers });
const files = () => readdirSync(folder).toSorted();

it('forgets what a process that died has left, and leaves what another may be writing', () => {
  expect(files()).toEqual(['1.new.part']);
  rmSync(join(folder, '1.new.part'));
});

describe('a photo', () => {
  it('is missing at first', async () => {
    const { status, body } = await get();
    expect([status, body.code]).toEqual([404, 'photo_not_found']);
  });

  it('is returned as it was stored, and replaced', async () => {
    expect((await put('0123456789')).status).toBe(204);
    expect((await put('abcdefghij')).status).toBe(204);
    const { status, text, headers } = await get();
    expect([status, text, headers.get('content-type')]).toEqual([200, 'abcdefghij', 'image/png']);
    expect(headers.get('x-ratelimit-limit')).not.toBeNull();
    expect(files()).toEqual(['1.png']);
  });

  it.each([
    ['bytes=2-4', 206, 'cde', 'bytes 2-4/10'],
    ['bytes=-3', 206, 'hij', 'bytes 7-9/10'],
    ['bytes=7-', 206, 'hij', 'bytes 7-9/10'],
    ['lines=1-2', 200, 'abcdefghij', null],
  ])('is sent in part: %s', async (range, status, text, contentRange) => {
    const answer = await get({ range });
    expect([answer.status, answer.text, answer.headers.get('content-range')]).toEqual([
      status,
      text,
      contentRange,
    ]);
  });

  it('is not sent again to who has it', async () => {
    const etag = (await get()).headers.get('etag') ?? '';
    // Without a `Cache-Control` header, fetch() sends `no-cache`, and Express does not return 304.
    const headers = { 'if-none-match': etag, 'cache-control': 'max-age=0' };
    expect((await get(headers)).status).toBe(304);
    await put('abcdefghiJ');
    expect((await get(headers)).status).toBe(200);
    await put('abcdefghij');
  });

  it('is refused for an animal that does not exist', async () => {
    const { status, body } = await put('x', '/v1/photos/1000000');
    expect([status, body.code]).toEqual([404, 'pet_not_found']);
  });

  it('is refused when it is too large, or of another type, and the old one stays', async () => {
    expect((await put('x'.repeat(20_000_001))).status).toBe(413);
    expect((await service.request('PUT', path, { json: {} })).status).toBe(415);
    expect((await get()).text).toBe('abcdefghij');
    expect(files()).toEqual(['1.png']);
  });

  it('is not stored if the upload is aborted', async () => {
    const headers = { ...PNG, authorization: `Bearer ${service.key}`, 'content-length': '100' };
    const upload = send(`${service.url}${path}`, { method: 'PUT', headers });
    upload.on('error', () => undefined);
    upload.write('only this');
    await expect.poll(() => files().length).toBe(2);
    upload.destroy();
    await expect.poll(files).toEqual(['1.png']);
    expect((await get()).text).toBe('abcdefghij');
  });

  it('is deleted, once and again', async () => {
    for (const _ of [1, 2]) expect((await service.request('DELETE', path)).status).toBe(204);
    expect((await get()).status).toBe(404);
  });
});
