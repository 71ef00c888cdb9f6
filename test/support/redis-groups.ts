import { execFileSync } from 'node:child_process';
import { expect, vi } from 'vitest';
import { freePort } from './free-port.js';
import { RedisServer } from './redis-server.js';

/** Time without a response after which a node counts as failed, in milliseconds. */
const DOWN_MS = 1_000;
/** Maximum time to form a group on a busy machine, in milliseconds. */
const FORMED_WITHIN = { timeout: 60_000, interval: 100 };
const MASTERS = 3;

/** A separate Redis Cluster for a test: three masters, each with a replica. */
export class RedisClusterServers {
  private constructor(readonly nodes: readonly RedisServer[]) {}

  /** Starts a cluster and waits until it serves all slots. Remove it when done. */
  static async start(...options: string[]): Promise<RedisClusterServers> {
    const ofNode = (busPort: number) => ({
      'cluster-enabled': 'yes',
      'cluster-port': String(busPort),
      'cluster-node-timeout': String(DOWN_MS),
      'cluster-replica-validity-factor': '0',
      'repl-diskless-sync-delay': '0',
    });
    const nodes = await Promise.all(
      Array.from({ length: 2 * MASTERS }, async () => {
        const own = Object.entries(ofNode(await freePort())).flatMap(([name, value]) => [`--${name}`, value]);
        return RedisServer.start(...own, ...options);
      }),
    );
    const cluster = new RedisClusterServers(nodes);
    try {
      const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
      const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes'];
      execFileSync('redis-cli', create, { stdio: 'ignore' });
      await cluster.untilWhole();
    } catch (error) {
      await cluster.remove();
      throw error;
    }
    return cluster;
  }

  /** The value of `REDIS_URL`: two of the nodes, from which clients discover the others. */
  get url(): string {
    return `redis+cluster://${this.nodes
      .slice(0, 2)
      .map(({ port }) => `127.0.0.1:${port}`)
      .join(',')}`;
  }

  /** The master that serves the slot of a key. */
  masterOf(key: string): RedisServer {
    const [running] = this.running();
    const slot = Number(running?.command('CLUSTER', 'KEYSLOT', key));
    for (const line of running?.command('CLUSTER', 'NODES').split('\n') ?? []) {
      const [, address = '', flags = '', , , , , , ...ranges] = line.split(' ');
      const port = Number(/:(\d+)@/.exec(address)?.[1]);
      const has = ranges.some((range) => {
        const [from = '', to = from] = range.split('-');
        return slot >= Number(from) && slot <= Number(to);
      });
      const node = this.nodes.find((one) => one.port === port);
      if (node && has && flags.includes('master') && !flags.includes('fail')) return node;
    }
    throw new Error(`No master serves ${key}.`);
  }

  /** Moves the slot of a key, including its keys, to another master, as `redis-cli --cluster reshard` does. */
  moveSlotOf(key: string): void {
    const [from, to] = [this.masterOf(key), this.startMovingSlotOf(key)];
    const slot = from.command('CLUSTER', 'KEYSLOT', key);
    // One key at a time: in between, the keys for one decision are on both masters.
    const keys = from.command('CLUSTER', 'GETKEYSINSLOT', slot, '1000').split('\n').filter(Boolean);
    for (const one of keys)
      from.command('MIGRATE', '127.0.0.1', String(to.port), one, '0', '5000', 'REPLACE');
    const toId = to.command('CLUSTER', 'MYID');
    for (const node of [to, from]) node.command('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
  }

  /** Starts to move the slot of a key, without its keys, to another master. Returns that master. */
  startMovingSlotOf(key: string): RedisServer {
    const from = this.masterOf(key);
    const slot = from.command('CLUSTER', 'KEYSLOT', key);
    const to = this.running().find(
      (node) => node !== from && node.command('INFO', 'replication').includes('role:master'),
    );
    if (!to) throw new Error('There is no other master.');
    const [fromId, toId] = [from, to].map((node) => node.command('CLUSTER', 'MYID')) as [string, string];
    to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
    from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
    return to;
  }

  /** Waits until all running nodes report that all slots are served, and, unless nodes have failed, that each master has a replica. */
  async untilWhole(): Promise<void> {
    for (const node of this.running())
      await vi.waitFor(
        () => expect(node.command('CLUSTER', 'INFO')).toMatch(/cluster_state:ok[^]*cluster_slots_ok:16384/),
        FORMED_WITHIN,
      );
    if (this.running().length < this.nodes.length) return;
    for (const node of this.nodes)
      await vi.waitFor(
        () => expect(node.command('INFO', 'replication')).toMatch(/connected_slaves:1|master_link_status:up/),
        FORMED_WITHIN,
      );
  }

  /** Kills all nodes and removes their files. */
  async remove(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.remove()));
  }

  private running(): readonly RedisServer[] {
    return this.nodes.filter((node) => node.isRunning);
  }
}

/** A separate group for a test: a master, its replica, and three Sentinels that monitor them. */
export class RedisSentinelServers {
  private constructor(
    readonly master: RedisServer,
    readonly replica: RedisServer,
    readonly sentinels: readonly RedisServer[],
  ) {}

  /** Starts the group and waits until the Sentinels have discovered each other and the replica. Remove it when done. */
  static async start(): Promise<RedisSentinelServers> {
    const master = await RedisServer.start('--repl-diskless-sync-delay', '0');
    const replica = await RedisServer.start('--replicaof', `127.0.0.1 ${master.port}`);
    const sentinels = await Promise.all(
      Array.from({ length: 3 }, () =>
        RedisServer.startSentinel(
          `monitor shop 127.0.0.1 ${master.port} 2`,
          `down-after-milliseconds shop ${DOWN_MS}`,
          'failover-timeout shop 5000',
        ),
      ),
    );
    const group = new RedisSentinelServers(master, replica, sentinels);
    try {
      await group.untilWhole();
    } catch (error) {
      await group.remove();
      throw error;
    }
    return group;
  }

  /** The value of `REDIS_URL`. */
  get url(): string {
    return `redis+sentinel://${this.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/shop`;
  }

  private async untilWhole(): Promise<void> {
    for (const sentinel of this.sentinels)
      await vi.waitFor(
        () =>
          expect(sentinel.command('SENTINEL', 'MASTER', 'shop')).toMatch(
            /num-slaves\n1\n[^]*num-other-sentinels\n2\n/,
          ),
        FORMED_WITHIN,
      );
    await vi.waitFor(
      () => expect(this.replica.command('INFO', 'replication')).toContain('master_link_status:up'),
      FORMED_WITHIN,
    );
  }

  /** Kills all processes and removes their files. */
  async remove(): Promise<void> {
    await Promise.all([this.master, this.replica, ...this.sentinels].map((server) => server.remove()));
  }
}
