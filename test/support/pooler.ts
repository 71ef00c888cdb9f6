import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, listens } from './free-port.js';

/** A separate PgBouncer for a test, in front of a PostgreSQL server that trusts all users. */
export class Pooler {
  private constructor(
    private readonly port: number,
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  /** Starts a PgBouncer for the server on this port, for the user petstore. Stop it when done. */
  static async start(mode: 'session' | 'transaction', server: number): Promise<Pooler> {
    const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), 'petstore-pooler-'))];
    await chmod(folder, 0o755);
    const settings = [
      '[databases]',
      `* = host=127.0.0.1 port=${server} user=petstore`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      `pool_mode = ${mode}`,
      'default_pool_size = 30',
      'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,extra_float_digits',
    ];
    await writeFile(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`, { mode: 0o644 });
    // PgBouncer refuses to run as root.
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    const child = spawn(PGBOUNCER, [...user, join(folder, 'pgbouncer.ini')], { stdio: 'ignore' });
    while (!(await listens(port))) await pause(50);
    return new Pooler(port, child, folder);
  }

  /** The value of `DATABASE_URL` for this database. */
  url(database: string): string {
    return `postgres://petstore@127.0.0.1:${this.port}/${database}`;
  }

  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    if (this.child.exitCode === null) await once(this.child, 'exit');
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The path of Debian's package. */
export const PGBOUNCER = '/usr/sbin/pgbouncer';
