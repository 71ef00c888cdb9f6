import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { readSettings } from './setting.js';
import { Settings } from './settings.js';

/**
 * The settings of this process: its environment over the file `.env` of the working directory.
 * Throws SettingsError with one line per fault.
 */
export function loadSettings(): Settings {
  return readSettings(Settings, { ...readEnvFile('.env'), ...process.env });
}

function readEnvFile(path: string): Readonly<Record<string, string | undefined>> {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}
