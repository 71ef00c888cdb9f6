import { promises as dns } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { Injectable, Logger } from '@nestjs/common';
import { Settings } from '../core/config/settings.js';
import { type UrlFault, faultOfForm, refused } from './url-form.js';

/**
 * IPv4 addresses that are not public unicast (IANA's registry of special-purpose addresses, and multicast), by why.
 */
const NOT_PUBLIC_4: readonly (readonly [network: string, prefix: number, what: string])[] = [
  ['0.0.0.0', 8, 'this network'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'carrier-grade NAT'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link-local'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'IETF protocols'],
  ['192.0.2.0', 24, 'documentation'],
  ['192.88.99.0', 24, '6to4 relays'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'benchmarks'],
  ['198.51.100.0', 24, 'documentation'],
  ['203.0.113.0', 24, 'documentation'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved and broadcast'],
];
/** Parts of 2000::/3 that are not public unicast, or that carry an IPv4 address. All else of IPv6 is not public anyway. */
const NOT_PUBLIC_6: typeof NOT_PUBLIC_4 = [
  ['2001::', 23, 'IETF protocols, Teredo among them'],
  ['2001:db8::', 32, 'documentation'],
  ['2002::', 16, '6to4'],
  ['3fff::', 20, 'documentation'],
];
const PUBLIC_6 = ['2000::', 3] as const;

/** What operators do about a refusal, in development as well. */
const REMEDY = 'The operator of the service allows private networks with WEBHOOK_ALLOWED_NETWORKS.';

/** How long one resolver waits for an answer, in milliseconds, and how often it asks. */
const RESOLVER = { timeout: 3_000, tries: 2 };

/** An address that may be connected to. */
export interface AllowedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The same for whoever ordered the endpoint, so that nobody learns which names exist inside the network; the log has the reason. */
export class AddressRefused extends Error {
  override message =
    'The host has no address that messages may be sent to: its name does not exist or cannot be looked up, or it is not public.';
}

/**
 * Decides which addresses webhooks are sent to: public unicast addresses, and those of WEBHOOK_ALLOWED_NETWORKS. So no client can
 * have the service call what only the service can reach.
 */
@Injectable()
export class WebhookAddresses {
  private readonly logger = new Logger('Webhooks');
  private readonly allowed = new BlockList();
  private readonly notPublic = new BlockList();
  private readonly public6 = new BlockList();
  private readonly hasAllowed: boolean;

  constructor({ webhookAllowedNetworks }: Settings) {
    this.hasAllowed = webhookAllowedNetworks.length > 0;
    for (const network of webhookAllowedNetworks) {
      const [address = '', prefix] = network.split('/');
      const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
      this.allowed.addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family);
    }
    for (const [address, prefix] of NOT_PUBLIC_4) this.notPublic.addSubnet(address, prefix, 'ipv4');
    for (const [address, prefix] of NOT_PUBLIC_6) this.notPublic.addSubnet(address, prefix, 'ipv6');
    this.public6.addSubnet(...PUBLIC_6, 'ipv6');
  }

  /** Whether an IPv4 or IPv6 address may be connected to. */
  allows(address: string): boolean {
    return this.isAllowed(address) || isPublic(address, this.notPublic, this.public6);
  }

  /**
   * What forbids to send messages to a URL, as far as it can be seen without resolving its name; undefined for one that may be used.
   */
  faultOfUrl(text: string): UrlFault | undefined {
    const fault = faultOfForm(text);
    if (fault) return fault;
    const { protocol, hostname } = new URL(text);
    const address = literalOf(hostname);
    if (address !== undefined && !this.allows(address))
      return refused(`The address is not public, so that messages are not sent to it. ${REMEDY}`);
    // RFC 6761 section 6.3.
    if (/(?:^|\.)localhost$/.test(hostname) && !this.isAllowed('127.0.0.1') && !this.isAllowed('::1'))
      return refused(
        `The host is the machine of the service itself, so that messages are not sent to it. ${REMEDY}`,
      );
    if (protocol === 'https:') return undefined;
    if (!this.hasAllowed || (address !== undefined && !this.isAllowed(address)))
      return refused('The URL must begin with https://.');
    return undefined;
  }

  /**
   * The addresses of a URL's host that it may be connected to. Throws AddressRefused when there are none. A URL with http:// only
   * reaches allowed networks.
   */
  async of({ protocol, hostname }: URL): Promise<AllowedAddress[]> {
    const may = (address: string) => (protocol === 'https:' ? this.allows(address) : this.isAllowed(address));
    const literal = literalOf(hostname);
    const found = literal === undefined ? await this.resolve(hostname) : [literal];
    let addresses = found.filter(may);
    if (addresses.length === 0 && literal === undefined && this.hasAllowed)
      addresses = (await this.resolveBySystem(hostname)).filter(may);
    if (addresses.length === 0) {
      this.logger.debug(
        `No message is sent to ${hostname}: of its addresses (${found.join(', ')}) none is allowed`,
      );
      throw new AddressRefused();
    }
    return addresses.map((address) => ({ address, family: isIP(address) as 4 | 6 }));
  }

  /**
   * Every address of a name, by the name servers. Node itself asks them: a name whose server does not answer would hold a thread of
   * the few that files and SQLite need, if the system were asked.
   */
  protected async resolve(hostname: string): Promise<string[]> {
    const resolver = new dns.Resolver(RESOLVER);
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    return answers.flatMap((answer) => {
      if (answer.status === 'fulfilled') return answer.value;
      this.logger.debug(String(answer.reason));
      return [];
    });
  }

  /** Every address of a name, by the system: the names of allowed networks may be in its hosts file. */
  protected async resolveBySystem(hostname: string): Promise<string[]> {
    const found = await dns.lookup(hostname, { all: true }).catch(() => []);
    return found.map(({ address }) => address);
  }

  private isAllowed(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.allowed.check(address, family === 4 ? 'ipv4' : 'ipv6');
  }
}

function isPublic(address: string, notPublic: BlockList, public6: BlockList): boolean {
  const family = isIP(address);
  // One with a zone, such as fe80::1%eth0, is never public.
  if (family === 0 || address.includes('%')) return false;
  if (family === 4) return !notPublic.check(address, 'ipv4');
  return public6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}

/** The address that a host is, if it is no name. URL has made of every notation of IPv4 the usual one. */
function literalOf(hostname: string): string | undefined {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(address) === 0 ? undefined : address;
}
