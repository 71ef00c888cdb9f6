import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { projectSettings } from '#project-modules';
import { type Environment, SettingsError } from './define-settings.js';

/** Why a file cannot be read and what to do, by error code. */
const PROBLEMS: Readonly<Record<string, string>> = {
  EACCES:
    'permission denied. Give the user of the service read permission (chown, chmod), or remove the file',
  EISDIR: 'it is a directory. Remove it, or replace it with a file',
};

/** The variables of a file such as `.env`; empty if it does not exist. Throws SettingsError if it cannot be read or is not UTF-8. */
export function readEnvFile(path: string): Environment {
  const text = textOf(path);
  // UTF-16, which PowerShell writes, is full of zeros; read as UTF-8, it would contain no setting at all.
  if (text.includes('\0') || text.startsWith('\uFFFD'))
    throw new SettingsError([`${path} is not UTF-8, so its settings cannot be read. Save it as UTF-8.`]);
  return parseEnv(text.replace(/^\uFEFF/, ''));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new SettingsError([`${path} cannot be read: ${PROBLEMS[code] ?? message}.`]);
  }
}

/** Variables that test runners set: Vitest, Jest and Node.js. */
const TEST_RUNNERS = ['VITEST', 'JEST_WORKER_ID', 'NODE_TEST_CONTEXT'];

/**
 * The environment, which takes precedence over `.env`, then defaults in code, then `petstore.settings` of package.json. Under a test
 * runner, `.env` is ignored and the database is in memory, so that no test uses the real one.
 */
export function environmentOfProcess(defaults: Environment = {}): Environment {
  const project = { ...projectSettings(), ...defaults };
  if (TEST_RUNNERS.some((name) => process.env[name] !== undefined))
    return { ...project, DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'error', ...process.env };
  return { ...project, ...readEnvFile('.env'), ...process.env };
}
