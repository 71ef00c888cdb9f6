import type { IncomingMessage } from 'node:http';
import { BlockList, type Socket, isIP } from 'node:net';
import { Logger } from '@nestjs/common';
import type { Request } from 'express';

/** Maximum number of consecutive trusted proxies, so that one request cannot make the service check thousands of addresses. */
const MAX_HOPS = 32;

/** Whether a proxy with this address is trusted; `hop` is the number of proxies between it and this service. */
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
  return (address, hop) => hop < MAX_HOPS && isIP(address) !== 0 && trusted.check(address, familyOf(address));
}

/** `a.b.c.d:n`, and `[v6]` with or without `:n`: some proxies add ports and brackets. */
const WITH_PORT = /^(?:(\d+(?:\.\d+){3}):\d{1,5}|\[([\da-f:.]+)(?:%[^\]]*)?\](?::\d{1,5})?)$/i;

/**
 * Removes ports, brackets and zones from the addresses in X-Forwarded-For, so that Express's `request.ip` is an address. If one is not an
 * IP address, it is dropped with all before it, so the nearest known proxy counts as the sender.
 */
export function readForwardedFor(request: IncomingMessage): void {
  const field = request.headers['x-forwarded-for'];
  if (field === undefined) return;
  const hops = [field]
    .flat()
    .join()
    .split(',')
    .map(plainAddress)
    .filter((hop) => hop !== '')
    .slice(-MAX_HOPS - 1);
  const known = hops.slice(hops.findLastIndex((hop) => isIP(hop) === 0) + 1);
  request.headers['x-forwarded-for'] = known.join(', ');
  request.isForwardedCut = known.length < hops.length;
}

function plainAddress(text: string): string {
  const hop = text.trim();
  const [, v4, v6] = WITH_PORT.exec(hop) ?? [];
  return v4 ?? v6 ?? withoutZone(hop);
}

/** Makes Node keep the address of a socket, which would otherwise be unknown to a request whose client is gone before it is handled. */
export function keepAddress(socket: Socket): void {
  Reflect.get(socket, 'remoteAddress');
}

/**
 * The client's IP address, as far as proxies are trusted; undefined once the socket is closed. Cached in the request, because Express
 * parses X-Forwarded-For again each time.
 */
export function addressOf(request: Request): string | undefined {
  if (request.clientAddress === undefined) request.clientAddress = resolveAddress(request) ?? null;
  return request.clientAddress ?? undefined;
}

function resolveAddress(request: Request): string | undefined {
  const { headers, socket } = request;
  const { remoteAddress } = socket;
  // Without this field, Express also returns the socket's address, but takes longer.
  if (headers['x-forwarded-for'] === undefined) return remoteAddress && withoutZone(remoteAddress);
  const { ip, ips, app } = request;
  if (request.isForwardedCut && ip !== undefined && (app.get('trust proxy fn') as TrustsHop)(ip, ips.length))
    warnOnce(app);
  return ip && withoutZone(ip);
}

const logger = new Logger('Proxy');
const warned = new WeakSet<object>();

function warnOnce(app: object): void {
  if (warned.has(app)) return;
  warned.add(app);
  logger.warn(
    'A trusted proxy (TRUST_PROXY) sends X-Forwarded-For without a valid IP address; all its callers share the limit of one address',
  );
}

/** Removes an IPv6 zone (the part after % in fe80::1%eth0), which may be any text and has no meaning on another machine. */
function withoutZone(address: string): string {
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
