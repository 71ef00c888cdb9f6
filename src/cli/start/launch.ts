import { SettingsError } from '../../core/config/define-settings.js';
import { DeclarationError } from '../../core/declaration-faults.js';
import { importing } from '../../core/import-failure.js';
import { answerTo } from './usage.js';

/** Signals that stop the service gracefully; SIGHUP too, whose default action would lose the counts of the last second. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Before the service listens, a signal ends the process at once: what is not committed is rolled back. */
let stop = (signal: string): void => {
  process.stderr.write(`${signal}: ended before the start was complete\n`);
  process.exit(0);
};
for (const signal of STOP_SIGNALS) process.on(signal, () => stop(signal));

// The reader of these streams may have gone away (EPIPE), which must not end the service. The log has its own listener.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const answer = answerTo(process.argv.slice(2));
if (answer) {
  (answer.exitCode === 0 ? process.stdout : process.stderr).write(answer.text);
  process.exit(answer.exitCode);
}

try {
  // Imported only now, so that a module that cannot be imported is told of as any other fault of the start.
  const { start } = await importing(() => import('./start.js'));
  await start((whenRunning) => (stop = whenRunning));
} catch (error) {
  process.stderr.write(`${reasonOf(error)}
`);
  process.exit(1);
}

function reasonOf(error: unknown): string {
  if (error instanceof SettingsError) return `The settings are wrong:\n${error.message}`;
  if (!(error instanceof Error)) return `The service could not start: ${String(error)}`;
  // Which is not asked for before a module needs it.
  const isFolderGone = (error as NodeJS.ErrnoException).syscall === 'uv_cwd';
  const message = isFolderGone
    ? 'its working directory is not there any more. Start it in the folder of the service.'
    : error.message;
  const reason = `The service could not start: ${message}`;
  const { stack } = error instanceof DeclarationError && error.cause instanceof Error ? error.cause : error;
  return /^(debug|trace)$/.test(process.env['LOG_LEVEL'] ?? '') ? `${reason}\n${stack}` : reason;
}
