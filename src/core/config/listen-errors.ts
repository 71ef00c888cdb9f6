import type { Server } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';

/** The intended address of a server. */
export interface ListenAddress {
  /** The setting of its port. */
  readonly variable: 'PORT' | 'MANAGEMENT_PORT';
  readonly port: number | null;
  readonly host: string;
}

/** The origin of a server at a host and a port; an IPv6 address is in brackets (RFC 3986 section 3.2.2). */
export function originOf(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** The origin at which a listening server is reached from this machine. */
export function reachedAt(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return originOf(['::', '0.0.0.0'].includes(address) ? 'localhost' : address, port);
}

/** The remedy by error code. */
const SENTENCES: Readonly<Record<string, (address: ListenAddress) => string>> = {
  EADDRINUSE: ({ variable, port }) => `${variable}: port ${port} is in use; set ${variable} to a free port.`,
  EACCES: ({ variable, port }) =>
    `${variable}: this user has no permission to listen on port ${port}; set ${variable} to a port above 1023, such as ${(port ?? 0) + 8000}.`,
  EADDRNOTAVAIL: ({ variable, host }) =>
    `${hostOf(variable)}: ${host} is not an address of this machine; set ${hostOf(variable)} to an address of this machine, to 127.0.0.1, or to 0.0.0.0 for all addresses.`,
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
};

function unknownHost({ variable, host }: ListenAddress): string {
  return `${hostOf(variable)}: ${host} cannot be resolved; set ${hostOf(variable)} to an address of this machine, to 127.0.0.1, or to 0.0.0.0 for all addresses.`;
}

/** The setting of the host that belongs to a port setting. */
function hostOf(port: ListenAddress['variable']): string {
  return port === 'PORT' ? 'HOST' : 'MANAGEMENT_HOST';
}

/** Replaces Node's error when a server cannot listen: one sentence with the setting to change. */
export function listenError(address: ListenAddress, error: NodeJS.ErrnoException): Error {
  const sentence = SENTENCES[error.code ?? '']?.(address);
  return sentence === undefined ? error : new Error(sentence, { cause: error });
}
