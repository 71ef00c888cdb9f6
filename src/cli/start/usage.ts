import { softwareVersion } from '../../core/software-version.js';

const USAGE = `Usage: node dist/bundle/main.js [--help | --version]

Starts the Pet Store Service. Settings are environment variables or lines of .env; .env.example has all of them.
Clients, keys and the database are administered by another command: npx petstore --help
`;

/** What the process answers to its arguments, instead of starting the service. */
export interface Answer {
  readonly text: string;
  /** 0, or 2 for what it does not take, which is told on standard error. */
  readonly exitCode: 0 | 2;
}

/** What is answered to the arguments of the start, which takes none that changes it; undefined without any. */
export function answerTo(args: readonly string[]): Answer | undefined {
  const [first] = args;
  if (first === undefined) return undefined;
  if (args.length === 1 && ['--help', '-h'].includes(first)) return { text: USAGE, exitCode: 0 };
  if (args.length === 1 && ['--version', '-V'].includes(first))
    return { text: `${softwareVersion()}\n`, exitCode: 0 };
  const unknown = args.find((arg) => !['--help', '-h', '--version', '-V'].includes(arg)) ?? args[1];
  return { text: `"${unknown}" is not an argument of the start.\n\n${USAGE}`, exitCode: 2 };
}
