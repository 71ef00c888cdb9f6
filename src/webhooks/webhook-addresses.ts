import { BlockList, isIP, isIPv4 } from 'node:net';
import { Injectable, Logger } from '@nestjs/common';
import { Settings } from '../core/config/settings.js';
import { HostNames, isLocalhost } from './host-names.js';
import { type UrlError, formError, refused } from './url-form.js';

/** Networks that are not public unicast (IANA's registries of special-purpose addresses, and multicast). */
const NOT_PUBLIC = blockListOf([
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local
  '172.16.0.0/12', // private
  '192.0.0.0/24', // IETF protocols
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved and broadcast
  '2001::/23', // IETF protocols, Teredo among them
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which carries an IPv4 address
  '3fff::/20', // documentation
]);
/** The only public unicast addresses of IPv6. */
const UNICAST_6 = blockListOf(['2000::/3']);

/** The operator's remedy for a refused address, in production and in development. */
const REMEDY = 'The operator of the service allows private networks with WEBHOOK_ALLOWED_NETWORKS.';

/** An allowed address. */
export interface AllowedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Its message does not contain the reason, so that clients cannot find out which names exist inside the network. The reason is logged. */
export class AddressRefused extends Error {
  override message =
    'Messages cannot be sent to this host, because its name cannot be resolved or its address is not public.';
}

/**
 * Decides which addresses webhooks may be sent to: public unicast addresses, and those of WEBHOOK_ALLOWED_NETWORKS. Clients therefore
 * cannot make the service call hosts that only the service can reach.
 */
@Injectable()
export class WebhookAddresses {
  private readonly logger = new Logger('Webhooks');
  private readonly allowed: BlockList;
  private readonly hasAllowed: boolean;

  constructor(
    { webhookAllowedNetworks }: Settings,
    private readonly names: HostNames,
  ) {
    this.hasAllowed = webhookAllowedNetworks.length > 0;
    this.allowed = blockListOf(webhookAllowedNetworks);
  }

  /** Whether messages may be sent to an IPv4 or IPv6 address. */
  allows(address: string): boolean {
    return this.isAllowed(address) || isPublic(address);
  }

  /** Why messages cannot be sent to a URL, as far as known without resolving its name; undefined if they can. */
  urlError(text: string): UrlError | undefined {
    const error = formError(text);
    if (error) return error;
    const { protocol, hostname } = new URL(text);
    const address = literalOf(hostname);
    if (address !== undefined && !this.allows(address))
      return refused(`The address is not public, so no messages are sent to it. ${REMEDY}`);
    if (isLocalhost(hostname) && !this.isAllowed('127.0.0.1') && !this.isAllowed('::1'))
      return refused(
        `The host is the machine that runs the service, so no messages are sent to it. ${REMEDY}`,
      );
    if (protocol === 'https:') return undefined;
    if (!this.hasAllowed || (address !== undefined && !this.isAllowed(address)))
      return refused('The URL must begin with https://.');
    return undefined;
  }

  /**
   * The allowed addresses of a URL's host, from the first source that has any. Throws AddressRefused if there are none. A URL with `http:`
   * is allowed only for allowed networks.
   */
  async of({ protocol, hostname }: URL, signal: AbortSignal): Promise<AllowedAddress[]> {
    const may = (address: string) => (protocol === 'https:' ? this.allows(address) : this.isAllowed(address));
    const literal = literalOf(hostname);
    const sources =
      literal === undefined ? this.names.addressesOf(hostname, this.hasAllowed, signal) : [[literal]];
    const refusedOnes: string[] = [];
    for await (const found of sources) {
      const addresses = found.filter(may);
      if (addresses.length > 0)
        return addresses.map((address) => ({ address, family: isIP(address) as 4 | 6 }));
      refusedOnes.push(...found);
    }
    this.logger.debug(
      `No message is sent to ${hostname}, because none of its addresses (${refusedOnes.join(', ')}) is allowed`,
    );
    throw new AddressRefused();
  }

  private isAllowed(address: string): boolean {
    return holds(this.allowed, address);
  }
}

/** Whether an address is public unicast. */
export function isPublic(address: string): boolean {
  // An address with a zone, such as fe80::1%eth0, is never public.
  if (isIP(address) === 0 || address.includes('%')) return false;
  return (isIPv4(address) || holds(UNICAST_6, address)) && !holds(NOT_PUBLIC, address);
}

/** Networks as CIDRs, or single addresses. */
function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(
      address,
      Number(prefix ?? (isIPv4(address) ? 32 : 128)),
      isIPv4(address) ? 'ipv4' : 'ipv6',
    );
  }
  return list;
}

function holds(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** The IP address in a URL's host; undefined for a name. URL normalizes all notations of IPv4. */
function literalOf(hostname: string): string | undefined {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(address) === 0 ? undefined : address;
}
