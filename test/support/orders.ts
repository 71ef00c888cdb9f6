import { expect } from 'vitest';
import type { AdminDocument } from '../../src/cli/operations/operations.js';
import { runPetstore } from '../../src/cli/program.js';
import type { Shell } from '../../src/cli/frame/shell.js';
import type { TestService } from '../kit/test-service.js';

/** The outcome of an administration operation, on the command line or over HTTP. */
export interface Outcome {
  /** False if the operation was refused, with the reasons. */
  readonly done: boolean;
  readonly reasons: readonly string[];
  /** The response of a successful operation, as parsed JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly document: any;
}

/** An administration operation, as a command and as an HTTP request. */
export interface Operation {
  readonly args: readonly string[];
  readonly method: string;
  readonly path: string;
  readonly json?: unknown;
}

/** The result of a command. */
export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A shell that confirms every prompt. */
const AGREES: Partial<Shell> = { prompt: () => Promise.resolve('yes') };

/** Runs a command in the service's own process, without a terminal. What a separate process adds is tested elsewhere. */
export async function printedBy(
  service: TestService,
  args: readonly string[],
  shell: Partial<Shell> = {},
): Promise<Printed> {
  let [stdout, stderr] = ['', ''];
  const code = await runPetstore(args, {
    operations: service.adminDocument as object as AdminDocument,
    openApp: () => Promise.resolve(service.app),
    loadModules: () => Promise.resolve(),
    write: async (text) => void (stdout += text),
    writeError: (text) => (stderr += text),
    ...shell,
  });
  return { code, stdout, stderr };
}

/**
 * The same with `--json`, with a shell that confirms every prompt unless another one is given. Expects success and returns the printed
 * document.
 */
export async function jsonBy(service: TestService, args: readonly string[], shell: Partial<Shell> = AGREES) {
  const { code, stdout, stderr } = await printedBy(service, [...args, '--json'], shell);
  expect([code, stderr], args.join(' ')).toEqual([0, '']);
  return JSON.parse(stdout);
}

/** Executes an operation on the command line, and confirms every prompt. */
export async function onCommandLine(service: TestService, { args }: Operation): Promise<Outcome> {
  const { code, stdout: out, stderr: complaints } = await printedBy(service, [...args, '--json'], AGREES);
  if (code === 0) return { done: true, reasons: [], document: JSON.parse(out) };
  if ((code !== 1 && code !== 2) || out !== '') throw new Error(`exit ${code}: ${out}${complaints}`);
  const lines = complaints.trimEnd().split('\n');
  // The first line is the reason, followed by the remedy. Each error in a value has its option as a prefix.
  const ofValues = lines.every((line) => line.startsWith('--'));
  const reasons = ofValues ? lines.map((line) => line.replace(/^--[\w-]+: /, '')) : lines.slice(0, 1);
  return { done: false, reasons, document: undefined };
}

/** Executes an operation over HTTP with an admin key. */
export async function overHttp(
  service: TestService,
  key: string,
  { method, path, json }: Operation,
): Promise<Outcome> {
  const response = await service.request(method, path, { key, json });
  if (response.status < 300) return { done: true, reasons: [], document: response.body };
  const { message, details } = response.body as { message: string; details?: { message: string }[] };
  const reasons = details ? details.map((fault) => fault.message) : [message];
  return { done: false, reasons, document: undefined };
}
