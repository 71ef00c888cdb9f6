import { type RemoteInfo, type Socket, createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './service-process.js';

/** The result for a name: its addresses, an alias, no addresses, a server failure, or no response. */
export type Records =
  readonly string[] | { readonly alias: string } | 'nxdomain' | 'servfail' | 'refused' | 'silent';

/** The records of a name. `queries` is the number of earlier queries for this type of address. */
export type Naming = (name: string, queries: number) => Records;

const [TYPE_A, TYPE_CNAME, TYPE_AAAA] = [1, 5, 28];
const CODES = { nxdomain: 3, servfail: 2, refused: 5 } as const;

/** A DNS server (RFC 1035) on a free UDP port of 127.0.0.1, for A and AAAA. */
export class NameServer {
  private readonly counts = new Map<string, number>();

  private constructor(
    private readonly socket: Socket,
    private readonly naming: Naming,
  ) {}

  /** Starts a server. */
  static async start(naming: Naming): Promise<NameServer> {
    const socket = createSocket('udp4');
    const server = new NameServer(socket, naming);
    socket.on('message', (query, from) => server.take(query, from));
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return server;
  }

  /** The options and variables of a process that uses this server for DNS lookups. */
  get environment(): Record<string, string> {
    const preload = pathToFileURL(join(ROOT, 'test/support/name-server.mjs')).href;
    return {
      NODE_OPTIONS: `--import ${preload}`,
      TEST_NAME_SERVER: this.address,
    };
  }

  /** The address and port of the server. */
  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  /** The number of queries for the IPv4 addresses of a name. */
  queriesFor(name: string): number {
    return this.counts.get(`${name} ${TYPE_A}`) ?? 0;
  }

  /** Stops the server. */
  stop(): void {
    this.socket.close();
  }

  private take(query: Buffer, { port, address }: RemoteInfo): void {
    const end = query.indexOf(0, 12) + 1;
    const name = readName(query.subarray(12, end));
    const type = query.readUInt16BE(end);
    const key = `${name} ${type}`;
    const queries = this.counts.get(key) ?? 0;
    this.counts.set(key, queries + 1);
    const records = this.naming(name, queries);
    if (records === 'silent') return;
    const code = typeof records === 'string' ? CODES[records] : 0;
    const encoded = typeof records === 'string' ? [] : this.encodeRecords(name, type, records);
    const header = Buffer.from([0, 0, 0x81, 0x80 | code, 0, 1, 0, encoded.length, 0, 0, 0, 0]);
    query.copy(header, 0, 0, 2);
    const packet = Buffer.concat([header, query.subarray(12, end + 4), ...encoded]);
    this.socket.send(packet, port, address);
  }

  private encodeRecords(name: string, type: number, records: Exclude<Records, string>): Buffer[] {
    if ('alias' in records) {
      const { alias } = records;
      const behind = this.naming(alias, 0);
      const rest = typeof behind === 'string' ? [] : this.encodeRecords(alias, type, behind);
      return [record(name, TYPE_CNAME, writeName(alias)), ...rest];
    }
    const fitting = records.filter((one) => (one.includes(':') ? TYPE_AAAA : TYPE_A) === type);
    return fitting.map((one) => record(name, type, type === TYPE_A ? bytesOf4(one) : bytesOf6(one)));
  }
}

function record(name: string, type: number, data: Buffer): Buffer {
  // Class IN, with a TTL of 0 s, so that responses are not cached.
  return Buffer.concat([writeName(name), Buffer.from([0, type, 0, 1, 0, 0, 0, 0, 0, data.length]), data]);
}

function readName(bytes: Buffer): string {
  const labels: string[] = [];
  for (let at = 0; bytes[at]; at += (bytes[at] ?? 0) + 1)
    labels.push(bytes.toString('latin1', at + 1, at + 1 + (bytes[at] ?? 0)));
  return labels.join('.').toLowerCase();
}

function writeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

const bytesOf4 = (address: string): Buffer => Buffer.from(address.split('.').map(Number));

/** The bytes of `::1` or of an IPv4-mapped address such as ::ffff:127.0.0.1. */
function bytesOf6(address: string): Buffer {
  const [, mapped] = /^::ffff:([\d.]+)$/.exec(address) ?? [];
  if (mapped !== undefined)
    return Buffer.concat([Buffer.alloc(10), Buffer.from([255, 255]), bytesOf4(mapped)]);
  return Buffer.concat([Buffer.alloc(15), Buffer.from([Number(address.slice(2))])]);
}
