import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from './free-port.js';

/** How long a server may take to answer after its start, in milliseconds. */
const START_LIMIT_MS = 30_000;

/** A Redis of a test's own, on a port and in a folder of its own, to be killed, stopped, filled and flushed. */
export class RedisServer {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly port: number,
    private readonly folder: string,
    private readonly options: readonly string[],
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

  /** As `REDIS_URL` has it. */
  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it again after `kill`; `more` are further options. */
  async start(...more: string[]): Promise<void> {
    const own = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder];
    const plain = ['--save', '', '--enable-debug-command', 'yes', '--enable-protected-configs', 'yes'];
    this.child = spawn('redis-server', [...own, ...plain, ...this.options, ...more], { stdio: 'ignore' });
    for (const until = Date.now() + START_LIMIT_MS; ;) {
      if (this.answers()) return;
      if (Date.now() > until) throw new Error('redis-server does not answer');
      await setTimeout(20);
    }
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Sends a signal: SIGSTOP makes it stand still, SIGCONT go on. */
  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Runs a command; answers what redis-cli prints. */
  command(...words: string[]): string {
    return execFileSync('redis-cli', ['-p', String(this.port), ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  }

  /** Sends a command and does not wait for what comes of it. */
  send(...words: string[]): void {
    const socket = connect(this.port, '127.0.0.1', () => socket.end(`${words.join(' ')}\r\n`));
    socket.on('error', () => undefined).resume();
  }

  /** Kills it and removes what it wrote. */
  async remove(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  private answers(): boolean {
    try {
      // Whatever it answers; one that is loading refuses a PING.
      return this.command('PING') !== '';
    } catch {
      return false;
    }
  }
}
