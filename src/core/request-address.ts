import { BlockList, isIP } from 'node:net';
import type { Request } from 'express';

/** How many proxies in a row are trusted at most, so that one request cannot make the service check thousands of addresses. */
const MOST_HOPS = 32;

/** Whether a proxy of this address is trusted; `hop` counts the proxies between it and this service, from 0 on. */
export type TrustsHop = (address: string, hop: number) => boolean;

/** Express's setting `trust proxy` for TRUST_PROXY: a number of proxies, or addresses and CIDRs; null trusts none. */
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
 * The IP address that a request comes from, as far as the proxies are trusted. If they forward something that is not an IP address,
 * which may be any text, it is the address of the socket. Undefined once the socket is closed. Kept for the request after the
 * first call, because Express reads X-Forwarded-For again each time.
 */
export function addressOf(request: Request): string | undefined {
  if (request.clientAddress === undefined) request.clientAddress = resolveAddress(request) ?? null;
  return request.clientAddress ?? undefined;
}

function resolveAddress(request: Request): string | undefined {
  const { headers, socket } = request;
  const { remoteAddress } = socket;
  // Without this field Express also returns the address of the socket, but takes longer.
  if (headers['x-forwarded-for'] === undefined) return remoteAddress && withoutZone(remoteAddress);
  const forwarded = withoutZone(request.ip ?? '');
  return isIP(forwarded) === 0 ? remoteAddress : forwarded;
}

/** Removes an IPv6 zone (the part after % in fe80::1%eth0), which may be any text and has no meaning on another machine. */
function withoutZone(address: string): string {
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
