import 'reflect-metadata';
import type { INestApplication } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { loadSettings } from '../config/settings.js';
import { fileOf } from '../database/sqlite/sqlite-data-source.js';
import { named } from '../database/sqlite/troubles/sqlite-errors.js';
import { ApiError } from '../errors/api-error.js';
import { importing } from '../import-failure.js';
import { runPetstore } from './program.js';
import { readSecret, terminalPrompt } from './prompt.js';

/** Why standard output took nothing any more. */
let lost: NodeJS.ErrnoException | undefined;

// Who reads the output may stop reading, as `head` does: the command is carried out all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/** Whoever is asked sees the question, and types the answer. */
const isAskable = process.stdin.isTTY && process.stderr.isTTY;
/** https://no-color.org, and terminals that know no escape sequences. */
const isColoured = !process.env.NO_COLOR && process.env.TERM !== 'dumb';

process.exitCode = await runPetstore(process.argv.slice(2), {
  withApp,
  loadModules: async () => void (await application()),
  write: (text) => void process.stdout.write(text, (error) => (lost ??= error ?? undefined)),
  flushed: () => new Promise((resolve) => process.stdout.write('', () => resolve(lost))),
  writeError: (text) => process.stderr.write(text),
  ...(process.stdout.isTTY ? { screen: { columns: process.stdout.columns, isColoured } } : {}),
  ...(isAskable ? { prompt: terminalPrompt(process.stdin, process.stderr) } : {}),
  readLine: (title) => readSecret(process.stdin, title),
});

/** The application, imported by those commands alone that need it: the others work while a module cannot be imported. */
function application() {
  return importing(() => import('../app.setup.js'));
}

/** Runs a command in the service's own application, not listening, and closes it. */
async function withApp<T>(command: (app: INestApplication) => Promise<T>): Promise<T> {
  const { createApp } = await application();
  loadSettings();
  const app = await createApp({ logger: false });
  try {
    await app.init();
    return await command(app);
  } catch (error) {
    const file = fileOf(app.get(DataSource));
    // A remedy for callers over HTTP, such as a header to look at, is of no use here: the database file is named instead.
    throw error instanceof ApiError && file !== undefined ? named(file, error) : error;
  } finally {
    await app.close();
  }
}
