import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The type of the keys. Generating an RSA key would take a third of a second of CPU time. */
const EC = '-newkey ec -pkeyopt ec_paramgen_curve:P-256';

/**
 * Creates a folder with `server.crt` and `server.key` for localhost, signed by a separate authority, `ca.crt`. Remove the folder when done.
 */
export async function makeCertificates(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-certificates-'));
  const openssl = (line: string, ...more: string[]) =>
    run('openssl', [...line.split(' '), ...more], { cwd: folder });
  await openssl(`req -x509 ${EC} -nodes -days 2 -keyout ca.key -out ca.crt -subj`, '/CN=Test authority');
  await openssl(`req ${EC} -nodes -subj /CN=localhost -keyout server.key -out server.csr`);
  await openssl('x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out server.crt');
  return folder;
}

/** The certificate to create: its issuer, its name, and its lifetime in days. With a negative lifetime, it has expired. */
export interface WantedCertificate {
  /** The issuer: the authority in the folder, an unknown authority (whose certificate may be in the chain), its intermediate, or itself. */
  readonly by: 'authority' | 'another' | 'another, in the chain' | 'an intermediate of another' | 'itself';
  readonly name: string;
  readonly days?: number;
}

const AUTHORITY = '-addext basicConstraints=critical,CA:TRUE';
const SIGNED = '-CAcreateserial -copy_extensions copy';

/** Creates a certificate in a folder of makeCertificates(), and returns the TLS options for a server. */
export async function certificateFor(
  folder: string,
  { by, name, days = 2 }: WantedCertificate,
): Promise<{ cert: string; key: string }> {
  const own = await mkdtemp(join(folder, 'one-'));
  const openssl = (line: string) => run('openssl', line.split(' '), { cwd: own });
  const read = async (file: string): Promise<string> => readFile(join(own, file), 'utf8');
  const request = (subject: string, to: string) =>
    openssl(`req ${EC} -nodes -subj /CN=${subject} -keyout ${to}.key -out ${to}.csr`);
  const sign = (what: string, authority: string, lasting: number) =>
    openssl(
      `x509 -req -in ${what}.csr -CA ${authority}.crt -CAkey ${authority}.key ${SIGNED} -days ${lasting} -out ${what}.crt`,
    );
  const signer = by === 'authority' ? '../ca' : by === 'an intermediate of another' ? 'middle' : 'other';
  if (by === 'itself')
    await openssl(`req -x509 ${EC} -nodes -subj /CN=${name} -days ${days} -keyout own.key -out own.crt`);
  else {
    if (signer !== '../ca')
      await openssl(`req -x509 ${EC} -nodes -subj /CN=Other -days 2 -keyout other.key -out other.crt`);
    if (signer === 'middle') {
      await openssl(`req ${EC} -nodes -subj /CN=Middle ${AUTHORITY} -keyout middle.key -out middle.csr`);
      await sign('middle', 'other', 2);
    }
    await request(name, 'own');
    await sign('own', signer, days);
  }
  const isChain = signer === 'middle' || by === 'another, in the chain';
  const cert = (await read('own.crt')) + (isChain ? await read(`${signer}.crt`) : '');
  return { cert, key: await read('own.key') };
}
