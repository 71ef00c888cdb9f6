import v8 from 'node:v8';
import { refuseOtherNode } from '#supported-node';
import type { Type } from '@nestjs/common';
import { SettingsError } from '../core/config/define-settings.js';
import { DeclarationError } from '../core/declaration-faults.js';
import { importing } from '../core/import-failure.js';

/** Signals that stop the service gracefully; SIGHUP too, whose default action would lose the counts of the last second. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Options of V8 that keep the heap small, by name (docs/decisions/0033-heap.md). */
const HEAP_OPTIONS = {
  'allocation-site-pretenuring': '--no-allocation-site-pretenuring',
  'heap-growing-percent': '--heap-growing-percent=100',
};

/**
 * Starts the service in this process, with its settings, first start, background work and stop by signals: what `npm start` does. By
 * default with the modules that `petstore.modules` of the project's package.json names. Ends the process with 1, and a sentence
 * on standard error, when it cannot start.
 */
export async function startService(options: { readonly modules?: readonly Type[] } = {}): Promise<void> {
  prepareProcess();
  // Before the service listens, a signal ends the process at once: what is not committed is rolled back.
  let stop = (signal: string): void => {
    process.stderr.write(`${signal}: ended before the start was complete\n`);
    process.exit(0);
  };
  let isStopping = false;
  for (const signal of STOP_SIGNALS)
    process.on(signal, () => {
      isStopping = true;
      stop(signal);
    });
  // A reader of these streams may close them (EPIPE), which must not end the service. The log has its own listener.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    const { start } = await importing(() => import('./start.js'));
    await start((whenRunning) => (stop = whenRunning), options);
  } catch (error) {
    // The rest of the start may find the database closed. The stop ends the process.
    if (isStopping) return;
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exit(1);
  }
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

function reasonOf(error: unknown): string {
  if (error instanceof SettingsError) return `Invalid settings:\n${error.message}`;
  if (!(error instanceof Error)) return `The service could not start: ${String(error)}`;
  const isFolderGone = (error as NodeJS.ErrnoException).syscall === 'uv_cwd';
  const message = isFolderGone
    ? 'its working directory no longer exists. Start it in the folder of the service.'
    : error.message;
  const reason = `The service could not start: ${message}`;
  const { stack } = error instanceof DeclarationError && error.cause instanceof Error ? error.cause : error;
  return /^(debug|trace)$/.test(process.env['LOG_LEVEL'] ?? '') ? `${reason}\n${stack}` : reason;
}
