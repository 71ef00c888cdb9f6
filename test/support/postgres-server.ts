import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect } from 'vitest';
import { freePort } from './free-port.js';

const run = promisify(execFile);

/** The folder with the newest PostgreSQL server programs, as Debian installs them; undefined if PostgreSQL is not installed. */
export const POSTGRES_PROGRAMS = programs();

/** A separate PostgreSQL server for a test, with its own port and folder, which the test can stop, kill, fill and make read-only. */
export class PostgresServer {
  private constructor(
    readonly port: number,
    /** The folder with the data files and the Unix socket. */
    readonly folder: string,
  ) {}

  /** Creates a server and starts it. Remove it when done. */
  static start(): Promise<PostgresServer> {
    return PostgresServer.startAfter('initdb', '-A', 'trust', '-U', 'petstore', '-E', 'UTF8', '--no-sync');
  }

  /** Creates a standby, which replicates another server until it is promoted. Remove it when done. */
  static standbyOf({ port }: PostgresServer): Promise<PostgresServer> {
    const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'petstore'];
    return PostgresServer.startAfter('pg_basebackup', ...from, '-R', '-c', 'fast', '--no-sync');
  }

  private static async startAfter(program: string, ...args: string[]): Promise<PostgresServer> {
    const folder = await mkdtemp(join(tmpdir(), 'petstore-postgres-'));
    const server = new PostgresServer(await freePort(), folder);
    // PostgreSQL refuses to run as root.
    if (IS_ROOT) chownSync(folder, userId(), -1);
    await server.program(program, ...args, '-D', join(folder, 'data'));
    await server.start();
    return server;
  }

  /** The value of `DATABASE_URL`. */
  get url(): string {
    return `postgres://petstore@127.0.0.1:${this.port}/postgres`;
  }

  /** Restarts the server after `stop`. `more` contains settings such as `max_connections=10`. */
  async start(...more: string[]): Promise<void> {
    const own = [`port=${this.port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${this.folder}`];
    const quick = ['fsync=off', 'recovery_init_sync_method=syncfs', 'shared_buffers=16MB'];
    const options = [...own, ...quick, ...more].map((one) => `-c ${one}`).join(' ');
    await this.control('start', '-l', join(this.folder, 'log'), '-o', options);
  }

  /** Stops the server: `fast` closes all sessions, and `immediate` is like a crash. */
  async stop(how: 'fast' | 'immediate' = 'immediate'): Promise<void> {
    await this.control('stop', '-m', how).catch(() => undefined);
  }

  /** Waits until the standby has received everything that its primary has written. */
  async untilEvenWith(primary: PostgresServer): Promise<void> {
    const [written] = await primary.query('SELECT pg_current_wal_lsn() AS lsn');
    const isEven = `SELECT pg_last_wal_replay_lsn() >= '${String(written?.['lsn'])}' AS is_even`;
    await expect.poll(() => this.query(isEven)).toEqual([{ is_even: true }]);
  }

  /** Promotes the standby, which then accepts writes. */
  async promote(): Promise<void> {
    await this.control('promote');
  }

  /** Sends a signal to all processes of the server: SIGSTOP freezes it, and SIGCONT resumes it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    const pids = execFileSync('pgrep', ['-f', this.folder], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number);
    for (const pid of pids.flatMap((one) => [one, ...childrenOf(one)]))
      if (pid !== process.pid) signalIfRunning(pid, signal);
  }

  /** Executes statements as a superuser. */
  async query(...statements: string[]): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      let rows: Record<string, unknown>[] = [];
      for (const sql of statements) rows = (await client.query<Record<string, unknown>>(sql)).rows;
      return rows;
    } finally {
      await client.end();
    }
  }

  /** Prepends lines to pg_hba.conf. */
  async accept(...lines: string[]): Promise<void> {
    const path = join(this.folder, 'data/pg_hba.conf');
    await writeFile(path, `${lines.join('\n')}\n${await readFile(path, 'utf8')}`);
    await this.query('SELECT pg_reload_conf()');
  }

  /** The log of the server so far. */
  log(): Promise<string> {
    return readFile(join(this.folder, 'log'), 'utf8');
  }

  /** Changes the owner of a file to the user who runs the server. */
  handOver(path: string): void {
    if (IS_ROOT) chownSync(path, userId(), -1);
  }

  /** Terminates all other sessions. */
  async endSessions(): Promise<void> {
    await this.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL',
    );
  }

  /** Stops the server and removes its files. */
  async remove(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  private control(action: string, ...args: string[]): Promise<void> {
    return this.program('pg_ctl', action, '-w', '-D', join(this.folder, 'data'), ...args);
  }

  private async program(name: string, ...args: string[]): Promise<void> {
    const path = join(POSTGRES_PROGRAMS ?? '', name);
    const [command, ...all] = IS_ROOT ? ['runuser', '-u', 'postgres', '--', path, ...args] : [path, ...args];
    // The server inherits the streams of pg_ctl and would keep pipes open.
    await (name === 'pg_ctl'
      ? detached(command ?? '', all, this.folder)
      : run(command ?? '', all, { cwd: this.folder }));
  }
}

const IS_ROOT = process.getuid?.() === 0;

async function detached(command: string, args: string[], cwd: string): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
}

/** A session may have ended before it is terminated. */
function signalIfRunning(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function childrenOf(pid: number): number[] {
  try {
    const found = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' });
    return found.trim().split('\n').map(Number);
  } catch {
    return [];
  }
}

function userId(): number {
  return Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' }));
}

function programs(): string | undefined {
  try {
    const root = '/usr/lib/postgresql';
    const versions = readdirSync(root).toSorted((a, b) => Number(b) - Number(a));
    return versions[0] === undefined ? undefined : join(root, versions[0], 'bin');
  } catch {
    return undefined;
  }
}
