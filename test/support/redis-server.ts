import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.js';

/** Time limit for the first response of a server after its start, in milliseconds. */
const START_LIMIT_MS = 30_000;

/** The file in which a Sentinel stores its state. */
const SENTINEL_FILE = 'sentinel.conf';

/** A separate Redis server for a test, with its own port and folder, which the test can kill, stop, fill and flush. */
export class RedisServer {
  private child: ChildProcess | undefined;

  private constructor(
    /** The port on 127.0.0.1. */
    readonly port: number,
    private readonly folder: string,
    private readonly options: readonly string[],
    private readonly isSentinel = false,
  ) {}

  /** Starts a server. `options` are options of redis-server; by default, nothing is persisted. Remove it when done. */
  static async start(...options: string[]): Promise<RedisServer> {
    const server = new RedisServer(
      await freePort(),
      await mkdtemp(join(tmpdir(), 'petstore-redis-')),
      options,
    );
    await server.start();
    return server;
  }

  /** The same, removed at the end of the test. */
  static async ofTest(...options: string[]): Promise<RedisServer> {
    const server = await RedisServer.start(...options);
    onTestFinished(() => server.remove());
    return server;
  }

  /** Starts a Sentinel with these configuration lines, which every Sentinel must store in a file. Remove it when done. */
  static async startSentinel(...lines: string[]): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'petstore-sentinel-'));
    await writeFile(join(folder, SENTINEL_FILE), lines.map((line) => `sentinel ${line}\n`).join(''));
    const server = new RedisServer(await freePort(), folder, [], true);
    await server.start();
    return server;
  }

  /** The value of `REDIS_URL`. */
  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Restarts the server after `kill`. `more` contains additional options. */
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

  /** Whether the server is running. */
  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Kills the server, as a crash would. */
  async kill(): Promise<void> {
    const { child } = this;
    if (!child || !this.isRunning) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Sends a signal: SIGSTOP freezes the server, and SIGCONT resumes it. */
  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Executes a command and returns the output of redis-cli. */
  command(...parts: string[]): string {
    return execFileSync('redis-cli', ['-p', String(this.port), ...parts], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  }

  /** Sends a command without waiting for the result. */
  send(...parts: string[]): void {
    const socket = connect(this.port, '127.0.0.1', () => socket.end(`${parts.join(' ')}\r\n`));
    socket.on('error', () => undefined).resume();
  }

  /** Kills the server and removes its files. */
  async remove(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  private responds(): boolean {
    try {
      // Any response will do: a server that is loading its data refuses PING.
      return this.command('PING') !== '';
    } catch {
      return false;
    }
  }
}
