import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readEnvFile } from './env-file.js';

const folder = mkdtempSync(join(tmpdir(), 'petstore-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Reads a file with these bytes. */
function read(bytes: Buffer | string) {
  const path = join(folder, '.env');
  writeFileSync(path, bytes);
  return readEnvFile(path);
}

describe('the file of settings', () => {
  it('may be absent', () => expect(readEnvFile(join(folder, 'absent'))).toEqual({}));

  it.each([
    ['Windows', '\uFEFFPORT=4000\r\nHOST="::1"\r\n'],
    ['a shell', "export PORT=4000\nexport HOST='::1' # here alone\n"],
  ])('may be written as on %s', (_, text) => expect(read(text)).toEqual({ PORT: '4000', HOST: '::1' }));

  it.each([
    ['with a mark', Buffer.from('\uFEFFPORT=4000\n', 'utf16le')],
    ['without one', Buffer.from('PORT=4000\n', 'utf16le')],
  ])('is refused in UTF-16 %s, which would be read as no setting', (_, bytes) =>
    expect(() => read(bytes)).toThrow(/is not UTF-8.*Save it as UTF-8\.$/),
  );

  it('is refused when it is a folder, as the mount of a missing file creates', () => {
    const path = join(folder, 'folder');
    mkdirSync(path);
    expect(() => readEnvFile(path)).toThrow(`${path} cannot be read: it is a directory. Remove it,`);
  });
});
