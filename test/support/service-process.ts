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
/** This build with the catalogue of the test suites instead of the features of the checkout (build-with-catalogue.ts). */
export const WITH_CATALOGUE = join(ROOT, 'dist.suites');
/** The folder of the service whose processes a suite starts. restore.ts determines its modules. */
export const SERVICE = process.env['PETSTORE_TEST_MODULES'] === 'platform' ? WITH_CATALOGUE : ROOT;
/** The phrase with which .env.example marks a required setting (src/core/config/env-example.ts). */
const REQUIRED = 'Required: the service does not start without it.';
/** Time limit for startup, in milliseconds. After that, the process is killed and the start fails. */
const START_LIMIT_MS = 240_000;

/**
 * The environment of every process in a suite, independent of this process's own: PATH, and the example values of required settings in
 * .env.example.
 */
export const BARE_ENVIRONMENT: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  ...examplesOfRequired(readFileSync(join(ROOT, '.env.example'), 'utf8')),
};

/** The variables whose description in .env.example says that they are required. */
export function examplesOfRequired(example: string): Record<string, string> {
  const parts = example.split('\n\n').filter((part) => part.replaceAll(/\n# /g, ' ').includes(REQUIRED));
  return parseEnv(parts.map((part) => part.replace(/^# (?=[A-Z_]+=)/m, '')).join('\n')) as Record<
    string,
    string
  >;
}

/** The members of a log line that suites use. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly context?: string;
  readonly [field: string]: unknown;
}

/** The lines of a log that contain JSON. */
export function linesOf(log: string): LogLine[] {
  return log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);
}

/** The result of a finished command. */
export interface Finished {
  readonly code: number | null;
  /** The signal that terminated the command, if any. */
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Creates an empty working directory, so that the `.env` file and the data of this checkout are not used. Remove it when done. */
export async function emptyFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'petstore-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Creates an empty folder, which is removed at the end of the test, even if the test fails. */
export async function folderOfTest(): Promise<string> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  return path;
}

/** The DATABASE_URL of a file that is removed at the end of the test. */
export async function databaseOfTest(): Promise<string> {
  return `sqlite:${join(await folderOfTest(), 'pets.sqlite')}`;
}

/** Runs the petstore command in a folder and waits until it exits. */
export async function petstore(
  folder: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  return spawnPetstore(folder, args, environment).outcome;
}

/** Starts the petstore command in a folder. Returns its process, so that tests can send signals. */
export function spawnPetstore(
  folder: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): { child: ChildProcess; outcome: Promise<Finished> } {
  // doctor checks the ports, which other processes on this machine may use.
  const ports = { PORT: '0', MANAGEMENT_PORT: '0' };
  const child = run(join(SERVICE, 'bin/petstore.js'), folder, { ...ports, ...environment }, args);
  return { child, outcome: finished(child) };
}

/** Runs the service's entry point with arguments, which it rejects, and waits until it exits. */
export function serviceWith(folder: string, args: readonly string[]): Promise<Finished> {
  return finished(run(join(SERVICE, 'dist/bundle/main.js'), folder, {}, args));
}

/** Runs a program with only PATH and these variables, and waits until it exits. */
export function ran(
  cwd: string,
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  const env = { PATH: process.env.PATH, ...environment };
  return finished(spawn(program, [...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** The service in a separate process, as an operator starts it. */
export class ServiceProcess {
  private constructor(
    /** The origin at which it listens. */
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly outcome: Promise<Finished>,
    private readonly read: () => string,
  ) {}

  /** Starts the service on free ports and waits until it listens. Rejects with its output if it exits instead. */
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

  /** The result of the process, once it has exited. */
  get ended(): Promise<Finished> {
    return this.outcome;
  }

  /** The process id. */
  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Everything written to standard output so far. */
  get output(): string {
    return this.read();
  }

  /** The lines of the log so far that contain JSON. */
  get lines(): LogLine[] {
    return linesOf(this.output);
  }

  /** The log lines about the database and about errors. */
  get warnings(): string[] {
    return this.lines
      .filter(({ context }) => /^(?:Database|Errors)$/.test(context ?? ''))
      .map(({ msg }) => msg);
  }

  /** The demo client's key, which the service prints at startup if the database was empty; otherwise ''. */
  get demoKey(): string {
    return demoKeyIn(this.output);
  }

  /** Sends a request with the demo client's key, unless another key or none is given. */
  request(method: string, path: string, options: RequestOptions = {}): Promise<TestResponse> {
    return send(this.url, method, path, { key: this.demoKey || null, ...options });
  }

  /** Sends a signal and waits until the process exits. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Finished> {
    this.child.kill(signal);
    return this.outcome;
  }

  /** Sends a signal without waiting. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

/** Starts the service in a process that is killed at the end of the test if it is still running. */
export async function serviceOfTest(
  ...started: Parameters<typeof ServiceProcess.start>
): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(...started);
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return service;
}

/** The key of the demo client that a first start has printed, or ''. */
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

/** The error of a failed start in the form printed to a terminal. test/processes/service-process.spec.ts tests the JSON form. */
function asText(stderr: string): string {
  return stderr.replaceAll(/^\{.*"context":"Start".*\}$/gm, (line) => {
    const { msg, stack = '' } = JSON.parse(line) as { msg: string; stack?: string };
    return stack === '' ? msg : `${msg}\n${stack}`;
  });
}

function failedToStart({ code, stdout, stderr }: Finished): never {
  throw new Error(`The service ended with ${code}:\n${stdout}\n${stderr}`);
}
