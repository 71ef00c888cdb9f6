import { promises as dns } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { Injectable, Logger } from '@nestjs/common';
import { withTimeout } from '../events/limited-time.js';

/** Timeout of a query in milliseconds, and number of attempts per name server; a repeated query has twice the time. */
const QUERY = { timeout: 1_500, tries: 2 };
/** Time limit of each step of a lookup, in milliseconds: three steps fit into an attempt. */
const STEP_MS = 4_500;
/** Maximum size of a hosts file, in bytes. */
const MAX_FILE_BYTES = 1_048_576;
const MAX_DOMAINS = 6;
/** Error codes if there is no such name or address, or no name server. */
const CONCLUSIVE = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/** The result of querying the name servers. */
interface Response {
  readonly addresses: readonly string[];
  /** Whether all queries got a response. */
  readonly isConclusive: boolean;
}

/**
 * Resolves host names like the system, but rarely with its resolver: `getaddrinfo` occupies one of the few threads that files, SQLite and
 * all other name lookups need, for as long as a name server does not respond. Node.js queries name servers without threads.
 */
@Injectable()
export class HostNames {
  protected readonly files = { hosts: '/etc/hosts', resolver: '/etc/resolv.conf' };
  private readonly logger = new Logger('Webhooks');
  private hosts: Promise<ReadonlyMap<string, readonly string[]>> | undefined;
  private versionOfHosts = '';
  private systemLookup: Promise<unknown> = Promise.resolve();

  /**
   * The addresses of a name from one source after the other. In general, the only source is the name servers. For a host in the operator's
   * network, the hosts file comes first; the search domains of resolv.conf and, if no name server knows the name, the system's resolver
   * come last. Ends early once the signal aborts.
   */
  async *addressesOf(
    name: string,
    isOfNetwork: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<readonly string[]> {
    if (isOfNetwork) yield await this.fromHostsFile(name);
    // RFC 6761 section 6.3.
    if (isLocalhost(name)) {
      yield ['127.0.0.1', '::1'];
      return;
    }
    const asIs = await this.query([name], signal);
    yield asIs.addresses;
    if (!isOfNetwork || asIs.addresses.length > 0) return;
    const searched = await this.query(await this.searched(name), signal);
    yield searched.addresses;
    if (searched.addresses.length > 0 || !asIs.isConclusive || !searched.isConclusive) return;
    yield await this.bySystemSerialized(name, signal);
  }

  /** A resolver with the system's current name servers. */
  protected resolver(): dns.Resolver {
    return new dns.Resolver(QUERY);
  }

  /** All addresses of a name from the system's resolver, which has additional sources, such as multicast DNS. */
  protected async bySystem(name: string): Promise<string[]> {
    return (await dns.lookup(name, { all: true })).map(({ address }) => address);
  }

  /** Runs one lookup at a time, because it cannot be aborted; at most one thread is occupied. */
  private async bySystemSerialized(name: string, signal: AbortSignal): Promise<readonly string[]> {
    const lookUp = (limited: AbortSignal): Promise<string[]> => {
      const lookup = this.systemLookup
        .then(() => (limited.aborted ? [] : this.bySystem(name)))
        .catch(() => []);
      this.systemLookup = lookup;
      return lookup;
    };
    return withTimeout(STEP_MS, signal, lookUp).catch(() => []);
  }

  /** Queries A and AAAA records of several names concurrently; returns the addresses of the first name that has any. */
  private async query(names: readonly string[], signal: AbortSignal): Promise<Response> {
    const resolver = this.resolver();
    const cancel = (): void => resolver.cancel();
    const timer = setTimeout(cancel, STEP_MS);
    signal.addEventListener('abort', cancel);
    try {
      const queries = names.map((name) =>
        Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]),
      );
      if (signal.aborted) cancel();
      const results = await Promise.all(queries);
      const failures = results
        .flat()
        .flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
      for (const failure of failures) this.logger.debug(String(failure));
      const found = results.map((ofName) =>
        ofName.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])),
      );
      return {
        addresses: found.find(({ length }) => length > 0) ?? [],
        isConclusive: failures.every(({ code = '' }: NodeJS.ErrnoException) => CONCLUSIVE.has(code)),
      };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  }

  private async searched(name: string): Promise<string[]> {
    const text = await readFile(this.files.resolver, 'utf8').catch(() => '');
    return searchDomainsOf(text).map((domain) => `${name}.${domain}`);
  }

  /** The addresses of a name in the hosts file, which is read again after a change. */
  private async fromHostsFile(name: string): Promise<readonly string[]> {
    const { mtimeMs, size } = await stat(this.files.hosts).catch(() => ({ mtimeMs: 0, size: 0 }));
    const version = `${mtimeMs} ${size}`;
    if (version !== this.versionOfHosts) this.hosts = undefined;
    this.versionOfHosts = version;
    this.hosts ??= this.readHosts(size);
    return (await this.hosts).get(name) ?? [];
  }

  private async readHosts(size: number): Promise<Map<string, string[]>> {
    const { hosts: path } = this.files;
    if (size <= MAX_FILE_BYTES) return hostsOf(await readFile(path, 'utf8').catch(() => ''));
    this.logger.warn(`${path} is ignored for webhooks, because it is larger than 1 MiB`);
    return new Map();
  }
}

/** Whether a lower-case name refers to this machine. */
export function isLocalhost(name: string): boolean {
  return /(?:^|\.)localhost$/.test(name);
}

/** Parses a hosts file into addresses by lower-case name. */
export function hostsOf(text: string): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const addresses = hosts.get(key);
      if (addresses) addresses.push(address);
      else hosts.set(key, [address]);
    }
  }
  return hosts;
}

/** The search domains in a resolv.conf; its last `search` or `domain` applies. */
export function searchDomainsOf(text: string): string[] {
  const [, domains = ''] = [...text.matchAll(/^(?:search|domain)[ \t]+(.*)/gm)].at(-1) ?? [];
  const named = domains.split(/\s+/).map((domain) => domain.replace(/\.$/, ''));
  return named.filter((domain) => domain !== '').slice(0, MAX_DOMAINS);
}
