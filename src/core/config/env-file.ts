import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { type Environment, SettingsError } from './define-settings.js';

/** Why a file cannot be read, by the code of the error, and what to do. */
const TROUBLES: Readonly<Record<string, string>> = {
  EACCES: 'this user may not read it. Give the user of the service the right to (chown, chmod), or remove it',
  EISDIR: 'it is a folder. Remove it, or put a file there',
};

/**
 * The variables of a file such as `.env`; none where there is no file. A byte order mark, which editors on Windows write, is no part of
 * the first name. Throws SettingsError for a file that cannot be read, or is no text in UTF-8: whoever wrote it means what stands there.
 */
export function readEnvFile(path: string): Environment {
  const text = textOf(path);
  // UTF-16, which PowerShell writes, is full of zeros; as UTF-8 it would be read as no setting at all.
  if (text.includes('\0') || text.startsWith('\uFFFD'))
    throw new SettingsError([
      `${path}: it is no text in UTF-8, so no setting can be read. Save it as UTF-8.`,
    ]);
  return parseEnv(text.replace(/^\uFEFF/, ''));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new SettingsError([`${path} cannot be read: ${TROUBLES[code] ?? message}.`]);
  }
}

/** Variables that test runners set: Vitest, Jest and Node.js. */
const TEST_RUNNERS = ['VITEST', 'JEST_WORKER_ID', 'NODE_TEST_CONTEXT'];

/**
 * The environment of this process over the file `.env` of the working directory. Under a test runner that file is not read, the
 * database is in memory, and only errors are logged: no test may find the database of the service. Throws SettingsError when
 * the file cannot be read.
 */
export function environmentOfProcess(): Environment {
  if (TEST_RUNNERS.some((name) => process.env[name] !== undefined))
    return { DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'error', ...process.env };
  return { ...readEnvFile('.env'), ...process.env };
}
