import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { onTestFinished } from 'vitest';
import { type TestResponse, type RequestOptions, send } from '../kit/test-response.js';

/** The project's folder. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** This build with the catalogue of the suites in the place of the features of the checkout (build-with-catalogue.ts). */
export const WITH_CATALOGUE = join(ROOT, 'dist.suites');
/** The folder of the service whose processes a suite starts: restore.ts says which modules it has. */
export const SERVICE = process.env['PETSTORE_TEST_MODULES'] === 'platform' ? WITH_CATALOGUE : ROOT;
/** How the description of a setting in .env.example says that it is required (src/core/config/env-example.ts). */
const REQUIRED = 'Required: the service does not start without it.';
/** How long the service may take to listen, in milliseconds; then it is killed, and the start fails. */
const START_LIMIT_MS = 240_000;

/**
 * What every process of a suite is given, whatever this one has: the path, and the examples of the settings that the service does not
 * start without, as .env.example has them.
 */
export const BARE_ENVIRONMENT: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  ...examplesOfRequired(readFileSync(join(ROOT, '.env.example'), 'utf8')),
};

/** The variables of .env.example whose description says that they are required. */
export function examplesOfRequired(example: string): Record<string, string> {
  const parts = example.split('\n\n').filter((part) => part.replaceAll(/\n# /g, ' ').includes(REQUIRED));
  return parseEnv(parts.map((part) => part.replace(/^# (?=[A-Z_]+=)/m, '')).join('\n')) as Record<
    string,
    string
  >;
}

/** What suites read of a line of the log. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly context?: string;
  readonly [field: string]: unknown;
}

/** The lines of a log that are JSON. */
export function linesOf(log: string): LogLine[] {
  return log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);
}

/** What a finished command left. */
export interface Finished {
  readonly code: number | null;
  /** What ended it, when it did not end by itself. */
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** An empty folder to run in, so that no `.env` and no data of this checkout is met. Remove it when done. */
export async function emptyFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'petstore-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** An empty folder that is removed when the test is over, also when it fails. */
export async function folderOfTest(): Promise<string> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  return path;
}

/** The DATABASE_URL of a file that is removed when the test is over. */
export async function databaseOfTest(): Promise<string> {
  return `sqlite:${join(await folderOfTest(), 'pets.sqlite')}`;
}

/** Runs the petstore command in a folder and waits for its end. */
export async function petstore(
  folder: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  return spawnPetstore(folder, args, environment).outcome;
}

/** Runs the petstore command in a folder; its process may be sent signals. */
export function spawnPetstore(
  folder: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): { child: ChildProcess; outcome: Promise<Finished> } {
  // doctor looks at the ports, which others on this machine may use.
  const ports = { PORT: '0', MANAGEMENT_PORT: '0' };
  const child = run(join(SERVICE, 'bin/petstore.js'), folder, { ...ports, ...environment }, args);
  return { child, outcome: finished(child) };
}

/** Calls what starts the service with arguments, which it does not start with; waits for its end. */
export function serviceWith(folder: string, args: readonly string[]): Promise<Finished> {
  return finished(run(join(SERVICE, 'dist/bundle/main.js'), folder, {}, args));
}

/** Runs a program to its end, with the path and these variables alone. */
export function ran(
  cwd: string,
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  const env = { PATH: process.env.PATH, ...environment };
  return finished(spawn(program, [...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** The service as its own process, as an operator starts it. */
export class ServiceProcess {
  private constructor(
    /** Origin that it listens on. */
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly outcome: Promise<Finished>,
    private readonly read: () => string,
  ) {}

  /** Starts it on free ports and waits until it listens. Rejects with its output when it ends instead. */
  static async start(
    folder: string,
    environment: NodeJS.ProcessEnv = {},
    main = join(SERVICE, 'dist/bundle/main.js'),
    user: { uid?: number; gid?: number } = {},
  ) {
    const child = run(main, folder, { PORT: '0', MANAGEMENT_PORT: '0', ...environment }, [], user);
    let output = '';
    const outcome = finished(child);
    const listening = new Promise<string>((resolve) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const [, url] = /Listening on (http:\/\/[\w.:[\]]+)/.exec(output) ?? [];
        if (url !== undefined) resolve(url);
      });
    });
    const limit = setTimeout(() => child.kill('SIGKILL'), START_LIMIT_MS);
    const url = await Promise.race([listening, outcome.then(failedToStart)]);
    clearTimeout(limit);
    return new ServiceProcess(url, child, outcome, () => output);
  }

  /** How it has ended, once it has. */
  get ended(): Promise<Finished> {
    return this.outcome;
  }

  /** Id of the process. */
  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Everything written to standard output so far. */
  get output(): string {
    return this.read();
  }

  /** The lines of its log so far, which are JSON. */
  get lines(): LogLine[] {
    return linesOf(this.output);
  }

  /** What its log says of the database and of faults. */
  get warnings(): string[] {
    return this.lines
      .filter(({ context }) => /^(?:Database|Errors)$/.test(context ?? ''))
      .map(({ msg }) => msg);
  }

  /** Key of the demo client, which a store that was empty prints before it says that it listens, or ''. */
  get demoKey(): string {
    return demoKeyIn(this.output);
  }

  /** Sends a request, with the key of the demo client unless another one, or none, is given. */
  request(method: string, path: string, options: RequestOptions = {}): Promise<TestResponse> {
    return send(this.url, method, path, { key: this.demoKey || null, ...options });
  }

  /** Sends a signal and waits for the end. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Finished> {
    this.child.kill(signal);
    return this.outcome;
  }

  /** Sends a signal and does not wait. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

/** The service as a process that is killed when the test is over, if it still runs then. */
export async function serviceOfTest(
  ...started: Parameters<typeof ServiceProcess.start>
): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(...started);
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return service;
}

/** Key of the demo client that a first start has printed, or ''. */
export function demoKeyIn(output: string): string {
  return /\b[a-z][a-z0-9]+_test_\w{36}/.exec(output)?.[0] ?? '';
}

function run(
  script: string,
  cwd: string,
  environment: NodeJS.ProcessEnv,
  args: readonly string[] = [],
  user: { uid?: number; gid?: number } = {},
): ChildProcess {
  return spawn(process.execPath, [script, ...args], {
    ...user,
    cwd,
    env: { ...BARE_ENVIRONMENT, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function finished(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, stdout, stderr: asText(stderr) };
}

/** What a start that fails writes, as it is on a terminal: test/processes/service-process.spec.ts has it as JSON. */
function asText(stderr: string): string {
  return stderr.replaceAll(/^\{.*"context":"Start".*\}$/gm, (line) => {
    const { msg, stack = '' } = JSON.parse(line) as { msg: string; stack?: string };
    return stack === '' ? msg : `${msg}\n${stack}`;
  });
}

function failedToStart({ code, stdout, stderr }: Finished): never {
  throw new Error(`The service ended with ${code}:\n${stdout}\n${stderr}`);
}
