import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateRemedy, readCertificates } from './certificates.js';

const [FIRST = '', SECOND = ''] = rootCertificates;
const KEY = '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n';

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'petstore-'))));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes a file with this text. */
async function file(text: string): Promise<string> {
  const path = join(folder, 'ca.crt');
  await writeFile(path, text);
  return path;
}

describe('a file of certificates', () => {
  it.each([
    ['one certificate', FIRST],
    ['several, with text between them', `Root:\n${FIRST}\nOther:\r\n${SECOND.replaceAll('\n', '\r\n')}\n`],
    ['a key next to a certificate', `${KEY}${FIRST}`],
  ])('with %s is read as it is', async (_, text) => {
    expect(readCertificates('REDIS_CA', await file(text))).toBe(text);
  });

  it.each([
    ['nothing', '', 'contains no certificate (PEM)'],
    ['a key alone', KEY, 'contains no certificate (PEM)'],
    ['a certificate that is cut', FIRST.slice(0, 400), 'contains no certificate (PEM)'],
    ['one that is damaged', `${FIRST}\n${SECOND.replace(/\nM.{9}/, '\n')}`, 'its certificate 2 is corrupted'],
  ])('with %s is refused, by the name of the setting', async (_, text, error) => {
    const path = await file(text);
    const reading = (): unknown => readCertificates('DATABASE_CA', path);
    expect(reading).toThrow(`DATABASE_CA: ${path}`);
    expect(reading).toThrow(error);
    expect(reading).not.toThrow('MII');
  });

  it.each([
    ['is missing', 'absent.crt', 'ENOENT'],
    ['is a folder', '.', 'EISDIR'],
  ])('that %s is reported with the name of the setting', (_, name, why) => {
    expect(() => readCertificates('REDIS_CA', join(folder, name))).toThrow(
      new RegExp(`^REDIS_CA: ${join(folder, name)} cannot be read \\(${why}.*\\)$`),
    );
  });
});

it('a certificate that has expired is to be renewed', () => {
  const error = Object.assign(new Error('why'), { code: 'CERT_HAS_EXPIRED' });
  const settings = { url: 'DATABASE_URL', ca: 'DATABASE_CA' };
  expect(certificateRemedy(error, settings)).toContain('Renew the server’s certificate');
});
