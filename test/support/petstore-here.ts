import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { importApplication, openApplication } from '../../src/cli/frame/application.js';
import { runPetstore } from '../../src/cli/program.js';
import type { AdminDocument } from '../../src/cli/operations/operations.js';
import { BARE_ENVIRONMENT, type Finished, ROOT } from './service-process.js';

/** As a build has it. */
export const ADMIN_DOCUMENT = JSON.parse(
  readFileSync(join(ROOT, 'docs/openapi-admin.json'), 'utf8'),
) as AdminDocument;

/** Options of a client that no quota stops. */
export const UNLIMITED = '--plan enterprise --per-minute 1000000 --per-day 100000000'.split(' ');

/**
 * Runs the petstore command as `petstore()` of service-process.ts does, in the process of the suite: many times as fast. One after the
 * other, in a suite that has its process to itself, because the working directory and the variables are those of the process.
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

/** The same with `--json`, which has to succeed: the one document that it prints. */
export async function jsonHere(folder: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const { code, stdout, stderr } = await petstoreHere(folder, [...args, '--json'], environment);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}

/** A client that the command line makes with a key, which no quota stops unless `more` says otherwise. */
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
