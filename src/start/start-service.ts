import v8 from 'node:v8';
import { refuseOtherNode } from '#supported-node';
import type { AppOptions } from '../app.setup.js';
import { SettingsError } from '../core/config/define-settings.js';
import { DeclarationError } from '../core/declaration-errors.js';
import { importing } from '../core/import-failure.js';
import { logEarly } from './early-log.js';
import { DatabaseUnreachable, TRY_AGAIN } from './wait-for-database.js';

/** Signals that stop the service gracefully. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** V8 options that keep the heap small, by name (docs/decisions/0033-heap.md). */
const HEAP_OPTIONS = {
  'allocation-site-pretenuring': '--no-allocation-site-pretenuring',
  'heap-growing-percent': '--heap-growing-percent=100',
};

/**
 * Starts the service in this process, as `npm start` does: with settings, first start, background work and graceful shutdown on signals. By
 * default, with the modules in `petstore.modules` of the project's package.json. If startup fails, logs to standard error and exits with 75
 * if the database was unreachable, otherwise with 1.
 */
export async function startService(options: Pick<AppOptions, 'modules' | 'settings'> = {}): Promise<void> {
  prepareProcess();
  // Before the service listens, a signal ends the process immediately; uncommitted work is rolled back.
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
  // The terminal was closed. Without a terminal, ignore it, because Node.js resets the setting of nohup.
  process.on('SIGHUP', isOnTerminal() ? onSignal : () => undefined);
  // Readers of these streams may close them (EPIPE), which must not end the service. The log has its own listener.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    const { start } = await importing(() => import('./start.js'));
    await start((whenRunning) => (stop = whenRunning), options);
  } catch (error) {
    // The rest of startup may find the database closed, which is not an error: the shutdown ends the process.
    if (isStopping) return;
    report(error);
    process.exit(isOfDatabase(error) ? TRY_AGAIN : 1);
  }
}

/** Whether the database was unreachable or failed during startup, so that a retry may succeed. */
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
 * Exits if this version of Node.js is not supported, and makes V8 keep the heap small. Must run before the service is imported, because the
 * options affect how its code is compiled. Options given to the process take precedence.
 */
export function prepareProcess(): void {
  refuseOtherNode();
  const nodeOptions = process.execArgv.join(' ').replaceAll('_', '-');
  for (const [name, option] of Object.entries(HEAP_OPTIONS))
    if (!nodeOptions.includes(name)) v8.setFlagsFromString(option);
}

/** Logs why the service cannot start, one line for each invalid setting. */
function report(error: unknown): void {
  if (error instanceof SettingsError) {
    for (const problem of error.problems) logEarly('fatal', `Invalid setting: ${problem}`);
    return;
  }
  const isShown = /^(debug|trace)$/.test(process.env['LOG_LEVEL'] ?? '');
  logEarly('fatal', `The service could not start: ${reasonOf(error)}`, isShown ? stackOf(error) : undefined);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isFolderMissing = (error as NodeJS.ErrnoException).syscall === 'uv_cwd';
  return isFolderMissing
    ? 'the working directory no longer exists. Start the service in its own folder.'
    : error.message;
}

function stackOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return (error instanceof DeclarationError && error.cause instanceof Error ? error.cause : error).stack;
}
