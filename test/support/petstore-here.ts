import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { importApplication, openApplication } from '../../src/cli/frame/application.js';
import { runPetstore } from '../../src/cli/program.js';
import type { AdminDocument } from '../../src/cli/operations/operations.js';
import { BARE_ENVIRONMENT, type Finished, ROOT } from './service-process.js';

/** The same path as in a build. */
export const ADMIN_DOCUMENT = JSON.parse(
  readFileSync(join(ROOT, 'docs/openapi-admin.json'), 'utf8'),
) as AdminDocument;

/** Options of a client whose quota is practically unlimited. */
export const UNLIMITED = '--plan enterprise --per-minute 1000000 --per-day 100000000'.split(' ');

/**
 * Runs the petstore command like `petstore()` in service-process.ts, but in the process of the suite, which is many times faster. Commands
 * must run one after another, in a suite with a separate process, because the working directory and the environment belong to the process.
 */
export async function petstoreHere(
  folder: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  const [cwd, variables] = [process.cwd(), { ...process.env }];
  let [stdout, stderr] = ['', ''];
  let app: INestApplication | undefined;
  const writeError = (text: string): void => void (stderr += text);
  process.chdir(folder);
  setVariables({ ...BARE_ENVIRONMENT, PORT: '0', MANAGEMENT_PORT: '0', ...environment });
  try {
    const code = await runPetstore(args, {
      operations: ADMIN_DOCUMENT,
      openApp: async (use) => (app = await openApplication(use, writeError)),
      closeApp: async () => app?.close(),
      loadModules: async () => void (await importApplication(() => undefined)),
      write: async (text) => void (stdout += text),
      writeError,
    });
    return { code, signal: null, stdout, stderr };
  } finally {
    process.chdir(cwd);
    setVariables(variables);
  }
}

/** The same with `--json`. Expects success and returns the document that the command prints. */
export async function jsonHere(folder: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const { code, stdout, stderr } = await petstoreHere(folder, [...args, '--json'], environment);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Creates a client and a key with the command line. Its quota is practically unlimited unless `more` sets limits. */
export async function clientWithKey(
  folder: string,
  environment: NodeJS.ProcessEnv = {},
  more: readonly string[] = UNLIMITED,
): Promise<{ readonly clientId: string; readonly id: string; readonly key: string }> {
  const command = ['client', 'create', '--name', 'Shop', ...more, '--issue-key'];
  const { id, key } = await jsonHere(folder, command, environment);
  return { clientId: id, id: key.id, key: key.key };
}

function setVariables(variables: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, variables);
}
