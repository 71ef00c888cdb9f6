import { expect } from 'vitest';
import type { AdminDocument } from '../../src/cli/operations/operations.js';
import { runPetstore } from '../../src/cli/program.js';
import type { Shell } from '../../src/cli/frame/shell.js';
import type { TestService } from '../kit/test-service.js';

/** How one order ended, whichever way it was given. */
export interface Outcome {
  /** Done, or refused with the reasons, one by one. */
  readonly done: boolean;
  readonly reasons: readonly string[];
  /** The response when it was done, as parsed JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly document: any;
}

/** An order to the administration, as the command line and as HTTP have it. */
export interface Operation {
  readonly args: readonly string[];
  readonly method: string;
  readonly path: string;
  readonly json?: unknown;
}

/** What a command left. */
export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A person who agrees to what cannot be undone. */
const AGREES: Partial<Shell> = { prompt: () => Promise.resolve('yes') };

/** Runs a command in the service's own process, where there is no terminal: what a process adds is tested elsewhere. */
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

/** The same with `--json`, by a person who agrees unless another shell is given: expects success, and returns the one document. */
export async function jsonBy(service: TestService, args: readonly string[], shell: Partial<Shell> = AGREES) {
  const { code, stdout, stderr } = await printedBy(service, [...args, '--json'], shell);
  expect([code, stderr], args.join(' ')).toEqual([0, '']);
  return JSON.parse(stdout);
}

/** Gives an order on the command line, as a person who agrees to what cannot be undone. */
export async function onCommandLine(service: TestService, { args }: Operation): Promise<Outcome> {
  const { code, stdout: out, stderr: complaints } = await printedBy(service, [...args, '--json'], AGREES);
  if (code === 0) return { done: true, reasons: [], document: JSON.parse(out) };
  if ((code !== 1 && code !== 2) || out !== '') throw new Error(`exit ${code}: ${out}${complaints}`);
  const lines = complaints.trimEnd().split('\n');
  // Behind the reason stands what to do; a fault of a value has its option in front.
  const ofValues = lines.every((line) => line.startsWith('--'));
  const reasons = ofValues ? lines.map((line) => line.replace(/^--[\w-]+: /, '')) : lines.slice(0, 1);
  return { done: false, reasons, document: undefined };
}

/** Gives an order over HTTP with an admin key. */
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
