import v8 from 'node:v8';
import { refuseOtherNode } from '#supported-node';
import type { AppOptions } from '../app.setup.js';
import { SettingsError } from '../core/config/define-settings.js';
import { DeclarationError } from '../core/declaration-faults.js';
import { importing } from '../core/import-failure.js';
import { logEarly } from './early-log.js';
import { DatabaseUnreachable, TRY_AGAIN } from './wait-for-database.js';

/** Signals that stop the service gracefully. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Options of V8 that keep the heap small, by name (docs/decisions/0033-heap.md). */
const HEAP_OPTIONS = {
  'allocation-site-pretenuring': '--no-allocation-site-pretenuring',
  'heap-growing-percent': '--heap-growing-percent=100',
};

/**
 * Starts the service in this process, with its settings, first start, background work and stop by signals: what `npm start` does. By
 * default with the modules that `petstore.modules` of the project's package.json names. When it cannot start, ends the process with a
 * line on standard error: with 75 where the database was unreachable, otherwise with 1.
 */
export async function startService(options: Pick<AppOptions, 'modules' | 'settings'> = {}): Promise<void> {
  prepareProcess();
  // Before the service listens, a signal ends the process at once: what is not committed is rolled back.
  let stop = (signal: string): void => {
    process.stderr.write(`${signal}: stopped before the start was complete\n`);
    process.exit(0);
  };
  let isStopping = false;
  const onSignal = (signal: string): void => {
    isStopping = true;
    stop(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  // The terminal is gone. Without one, as under nohup, whose setting Node.js undoes, nothing is.
  process.on('SIGHUP', isOnTerminal() ? onSignal : () => undefined);
  // A reader of these streams may close them (EPIPE), which must not end the service. The log has its own listener.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    const { start } = await importing(() => import('./start.js'));
    await start((whenRunning) => (stop = whenRunning), options);
  } catch (error) {
    // The rest of the start may find the database closed. The stop ends the process.
    if (isStopping) return;
    report(error);
    process.exit(isOfDatabase(error) ? TRY_AGAIN : 1);
  }
}

/** Whether the database was unreachable, or has failed during the start: the same start may succeed later. */
function isOfDatabase(error: unknown): boolean {
  return (
    error instanceof DatabaseUnreachable ||
    (error instanceof Error && 'code' in error && error.code === 'service_unavailable')
  );
}

function isOnTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
}

/**
 * Ends the process where this Node.js does not run the service, and has V8 keep the heap small: before the service is imported, whose
 * code is compiled for these options. One that the process was started with stays as it is.
 */
export function prepareProcess(): void {
  refuseOtherNode();
  const given = process.execArgv.join(' ').replaceAll('_', '-');
  for (const [name, option] of Object.entries(HEAP_OPTIONS))
    if (!given.includes(name)) v8.setFlagsFromString(option);
}

/** Logs why the service cannot start, with a line for each setting that is wrong. */
function report(error: unknown): void {
  if (error instanceof SettingsError) {
    for (const fault of error.faults) logEarly('fatal', `Invalid setting: ${fault}`);
    return;
  }
  const isShown = /^(debug|trace)$/.test(process.env['LOG_LEVEL'] ?? '');
  logEarly('fatal', `The service could not start: ${reasonOf(error)}`, isShown ? stackOf(error) : undefined);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isFolderGone = (error as NodeJS.ErrnoException).syscall === 'uv_cwd';
  return isFolderGone
    ? 'the working directory no longer exists. Start the service in its own folder.'
    : error.message;
}

function stackOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return (error instanceof DeclarationError && error.cause instanceof Error ? error.cause : error).stack;
}
