import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Makes a folder with `server.crt` and `server.key` for the name localhost, signed by an authority of its own, `ca.crt`. Remove it when
 * done.
 */
export async function makeCertificates(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-certificates-'));
  const openssl = (line: string, ...more: string[]) =>
    run('openssl', [...line.split(' '), ...more], { cwd: folder });
  await openssl(
    'req -x509 -newkey rsa:2048 -nodes -days 2 -keyout ca.key -out ca.crt -subj',
    '/CN=Test authority',
  );
  await openssl('req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr');
  await openssl('x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out server.crt');
  return folder;
}
