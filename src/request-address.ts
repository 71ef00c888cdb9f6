import { BlockList, isIP } from 'node:net';
import type { Request } from 'express';
import { RequestSlot } from './request-slot.js';

/** Most proxies in front whose word is taken; one request must not make the service look through thousands. */
const MOST_HOPS = 32;
const ADDRESS = new RequestSlot<{ readonly value: string | undefined }>('address');

/** Whether the word of an address is taken that stands so many hops in front of this service, from 0 on. */
export type TrustsHop = (address: string, hop: number) => boolean;

/**
 * What Express's setting `trust proxy` is given for TRUST_PROXY: a number of proxies, or their addresses and CIDRs, of
 * which at most 32 in a row are believed; null believes nobody.
 */
export function trustedProxies(proxies: number | readonly string[] | null): TrustsHop {
  if (proxies === null) return () => false;
  if (typeof proxies === 'number') return (_, hop) => hop < proxies;
  const trusted = new BlockList();
  for (const range of proxies) {
    const [address = '', prefix] = range.split('/');
    if (prefix === undefined) trusted.addAddress(address, familyOf(address));
    else trusted.addSubnet(address, Number(prefix), familyOf(address));
  }
  return (address, hop) =>
    hop < MOST_HOPS && isIP(address) !== 0 && trusted.check(address, familyOf(address));
}

/**
 * The IP address that a request comes from, as far as the proxies in front are trusted; that of the socket if they
 * forward anything else, since that may be any text. Undefined once the socket has gone. Worked out when it is first
 * asked for: Express walks through X-Forwarded-For each time.
 */
export function addressOf(request: Request): string | undefined {
  const known = ADDRESS.get(request);
  if (known) return known.value;
  const value = resolveAddress(request);
  ADDRESS.set(request, { value });
  return value;
}

function resolveAddress(request: Request): string | undefined {
  const { headers, socket } = request;
  // Without the field Express finds the address of the socket as well, by a longer way.
  const ip = headers['x-forwarded-for'] === undefined ? socket.remoteAddress : request.ip;
  // Behind a zone (fe80::1%eth0) may stand any text, and it means nothing to another machine.
  const [address = ''] = ip?.split('%', 1) ?? [];
  return isIP(address) === 0 ? socket.remoteAddress : address;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
