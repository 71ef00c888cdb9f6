import { prepareProcess, startService } from './start/start-service.js';
import { softwareVersion } from './core/software-version.js';

const USAGE = `Usage: node dist/bundle/main.js [--help | --version]

Starts the service. Settings are environment variables or lines in .env; .env.example lists them all.
To administer clients, keys and the database, use another command: npx petstore --help
`;

prepareProcess();
if (process.argv.length > 2) handleArguments(process.argv.slice(2));
/** Resolves when the service has started. */
export const done = startService();

/** Handles arguments that do not start the service, and exits. */
function handleArguments(args: readonly string[]): never {
  const outputs: Readonly<Record<string, string>> = {
    '--help': USAGE,
    '-h': USAGE,
    '--version': `${softwareVersion()}\n`,
    '-V': `${softwareVersion()}\n`,
  };
  const unknown = args.find((arg) => !Object.hasOwn(outputs, arg)) ?? args[1];
  if (unknown === undefined) process.stdout.write(outputs[args[0] ?? ''] ?? USAGE);
  else process.stderr.write(`Unknown argument "${unknown}".\n\n${USAGE}`);
  process.exit(unknown === undefined ? 0 : 2);
}
