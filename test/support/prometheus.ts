import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { ROOT, emptyFolder } from './service-process.js';

/** Where the files for Prometheus are. */
export const MONITORING = join(ROOT, 'deploy/monitoring');

/** Runs promtool with what it is to read; throws an Error with its complaints when it exits with another code than 0. */
export function promtool(args: readonly string[], input = ''): string {
  return execFileSync('promtool', args, { input, encoding: 'utf8', stdio: 'pipe' });
}

/** What Prometheus answers to a query: for each series its labels and its value. */
export type Found = readonly {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [at: number, value: string];
}[];

/** A Prometheus with the configuration of deploy/monitoring, which scrapes another port, and every second. */
export class Prometheus {
  private constructor(
    private readonly url: string,
    private readonly child: ChildProcess,
    private readonly removeFolder: () => Promise<void>,
  ) {}

  /** Starts one that scrapes this port of 127.0.0.1. Remove it when done. */
  static async start(scraped: number): Promise<Prometheus> {
    const { path, remove } = await emptyFolder();
    await cp(join(MONITORING, 'alerts.yml'), join(path, 'alerts.yml'));
    const config = await readFile(join(MONITORING, 'prometheus.yml'), 'utf8');
    const own = config.replaceAll('15s', '1s').replace('127.0.0.1:3001', `127.0.0.1:${scraped}`);
    await writeFile(join(path, 'prometheus.yml'), own);
    const port = await freePort();
    const child = spawn(
      'prometheus',
      [
        `--config.file=${join(path, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(path, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    );
    return new Prometheus(`http://127.0.0.1:${port}`, child, remove);
  }

  /** What an expression finds now. Throws what Prometheus says against it, or while it does not answer yet. */
  async query(expression: string): Promise<Found> {
    const { result } = (await this.ask(`query?query=${encodeURIComponent(expression)}`)) as { result: Found };
    return result;
  }

  /** The state of each alert (inactive, pending, firing), or the error of its expression, by name. */
  async alerts(): Promise<Record<string, string>> {
    const { groups } = (await this.ask('rules')) as {
      groups: { rules: { name: string; state: string; health: string; lastError?: string }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    return Object.fromEntries(
      rules.map(({ name, state, health, lastError }) => [
        name,
        health === 'ok' ? state : (lastError ?? health),
      ]),
    );
  }

  /** Ends it. */
  async remove(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
    await this.removeFolder();
  }

  private async ask(path: string): Promise<unknown> {
    const response = await fetch(`${this.url}/api/v1/${path}`);
    const answer = (await response.json()) as { status: string; error?: string; data: unknown };
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  }
}
