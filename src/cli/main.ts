import 'reflect-metadata';
import type { INestApplication } from '@nestjs/common';
import { keepCompiled } from '../core/compile-cache.js';
import { runPetstore } from './program.js';
import { readSecret, terminalPrompt } from './frame/prompt.js';
import { columnsOf } from './frame/table.js';

keepCompiled();

/** Imported only by commands that need it, so that help and refusals are quick. */
const application = () => import('./frame/application.js');

/** The application, once a command has started it. */
let app: INestApplication | undefined;

/** Why standard output could no longer be written. */
let lost: NodeJS.ErrnoException | undefined;

// The reader of the output may stop reading, as `head` does: the command is carried out nevertheless.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/** A question needs a terminal on standard error, and the reply one on standard input. */
const isAskable = process.stdin.isTTY && process.stderr.isTTY;
/** https://no-color.org, and terminals that know no escape sequences. */
const isColoured = !process.env.NO_COLOR && process.env.TERM !== 'dumb';

const writeError = (text: string): void => void process.stderr.write(text);

process.exitCode = await runPetstore(process.argv.slice(2), {
  openApp: async (use) => (app = await (await application()).openApplication(use, writeError)),
  closeApp: async () => app?.close(),
  loadModules: async () => void (await (await application()).importApplication(writeError)),
  write: (text) =>
    new Promise((resolve) => {
      process.stdout.write(text, (error) => resolve((lost ??= error ?? undefined)));
    }),
  writeError,
  ...(process.stdout.isTTY ? { screen: { columns: columnsOf(process.stdout), isColoured } } : {}),
  ...(isAskable ? { prompt: terminalPrompt(process.stdin, process.stderr) } : {}),
  readLine: (title) => readSecret(process.stdin, title),
});
