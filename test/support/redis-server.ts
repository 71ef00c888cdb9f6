import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.js';

/** How long a server may take to answer after its start, in milliseconds. */
const START_LIMIT_MS = 30_000;

/** Where a Sentinel keeps what it watches, in its folder. */
const SENTINEL_FILE = 'sentinel.conf';

/** A Redis of a test's own, on a port and in its own folder, to be killed, stopped, filled and flushed. */
export class RedisServer {
  private child: ChildProcess | undefined;

  private constructor(
    /** Where it listens, on 127.0.0.1. */
    readonly port: number,
    private readonly folder: string,
    private readonly options: readonly string[],
    private readonly isSentinel = false,
  ) {}

  /** Starts one; `options` are redis-server's. It keeps nothing unless they say so. Remove it when done. */
  static async start(...options: string[]): Promise<RedisServer> {
    const server = new RedisServer(
      await freePort(),
      await mkdtemp(join(tmpdir(), 'petstore-redis-')),
      options,
    );
    await server.start();
    return server;
  }

  /** The same, removed when the test is over. */
  static async ofTest(...options: string[]): Promise<RedisServer> {
    const server = await RedisServer.start(...options);
    onTestFinished(() => server.remove());
    return server;
  }

  /** Starts a Sentinel; it keeps what these lines say in a file, as each Sentinel must. Remove it when done. */
  static async startSentinel(...lines: string[]): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'petstore-sentinel-'));
    await writeFile(join(folder, SENTINEL_FILE), lines.map((line) => `sentinel ${line}\n`).join(''));
    const server = new RedisServer(await freePort(), folder, [], true);
    await server.start();
    return server;
  }

  /** As `REDIS_URL` has it. */
  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it again after `kill`; `more` are further options. */
  async start(...more: string[]): Promise<void> {
    const own = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder];
    const plain = ['--save', '', '--enable-debug-command', 'yes', '--enable-protected-configs', 'yes'];
    const args = this.isSentinel
      ? [join(this.folder, SENTINEL_FILE), '--sentinel', ...own]
      : [...own, ...plain, ...this.options, ...more];
    this.child = spawn('redis-server', args, { stdio: 'ignore' });
    for (const until = Date.now() + START_LIMIT_MS; ;) {
      if (this.responds()) return;
      if (Date.now() > until) throw new Error('redis-server does not answer');
      await setTimeout(20);
    }
  }

  /** Whether it was started and not killed. */
  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Ends it immediately, as a crash does. */
  async kill(): Promise<void> {
    const { child } = this;
    if (!child || !this.isRunning) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Sends a signal: SIGSTOP makes it stand still, SIGCONT go on. */
  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Runs a command; returns what redis-cli prints. */
  command(...parts: string[]): string {
    return execFileSync('redis-cli', ['-p', String(this.port), ...parts], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  }

  /** Sends a command and does not wait for what comes of it. */
  send(...parts: string[]): void {
    const socket = connect(this.port, '127.0.0.1', () => socket.end(`${parts.join(' ')}\r\n`));
    socket.on('error', () => undefined).resume();
  }

  /** Kills it and removes what it wrote. */
  async remove(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  private responds(): boolean {
    try {
      // Whatever it answers; one that is loading refuses a PING.
      return this.command('PING') !== '';
    } catch {
      return false;
    }
  }
}
