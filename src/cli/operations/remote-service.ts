import { readFile } from 'node:fs/promises';
import { request as requestOverHttp } from 'node:http';
import { request as requestOverTls } from 'node:https';
import { rootCertificates } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import { InvalidArgumentError } from 'commander';
import type { Service } from './service.js';

/** Time limit for a response, in milliseconds. */
const TIMEOUT_MS = 60_000;
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Parses the address of a service. Throws InvalidArgumentError if sending a key there would be unsafe. */
export function addressOf(text: string): URL {
  const url = new URL(URL.canParse(text) ? text : 'about:blank');
  const { protocol, hostname, username, password, search, hash } = url;
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
  if (isSafe && username + password + search + hash === '') return url;
  throw new InvalidArgumentError(
    '--url: This must be an https URL without a key or a query, such as https://api.example.com. http is allowed only for this machine.',
  );
}

/**
 * The service at an address, used with a key. `ca` names a file with certificates to trust in addition to those of Node.js and
 * NODE_EXTRA_CA_CERTS. Redirects are not followed.
 */
export async function remoteService(url: URL, key: string, ca?: string): Promise<Omit<Service, 'thrown'>> {
  const { hostname, port } = urlToHttpOptions(url);
  const open = url.protocol === 'https:' ? requestOverTls : requestOverHttp;
  const trusted = ca === undefined ? {} : { ca: await certificates(ca) };
  return {
    base: `${url.pathname.replace(/\/$/, '')}/admin`,
    open: (options) =>
      open({
        ...options,
        ...trusted,
        hostname,
        port,
        headers: { ...options.headers, Authorization: `Bearer ${key}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }),
  };
}

/** Node.js ignores NODE_EXTRA_CA_CERTS if certificates are given. */
async function certificates(file: string): Promise<string[]> {
  const files = [file, process.env['NODE_EXTRA_CA_CERTS'] ?? ''].filter((one) => one !== '');
  return [...rootCertificates, ...(await Promise.all(files.map((one) => readFile(one, 'utf8'))))];
}
