import 'reflect-metadata';
import { existsSync, readFileSync } from 'node:fs';
import type { INestApplication } from '@nestjs/common';
import { adminDocument } from '../core/project-modules.js';
import { runPetstore } from './program.js';
import { readSecret, terminalPrompt } from './frame/prompt.js';
import { columnsOf } from './frame/table.js';
import type { AdminDocument } from './operations/operations.js';

/** Imported only by commands that need it, so that help and usage errors are fast. */
const application = () => import('./frame/application.js');

/** The administration's document: that of the project, or that of the service. */
const ofProject = adminDocument();
const document =
  ofProject !== undefined && existsSync(ofProject)
    ? ofProject
    : new URL('../../docs/openapi-admin.json', import.meta.url);

/** Set once a command has started it. */
let app: INestApplication | undefined;

/** The error that made standard output unwritable. */
let stdoutError: NodeJS.ErrnoException | undefined;

// The reader of the output may stop reading, as `head` does; the command runs anyway.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/** The question is written to standard error, and the reply is read from standard input. */
const isAskable = process.stdin.isTTY && process.stderr.isTTY;
/** https://no-color.org, and terminals without escape sequences. */
const isColored = !process.env.NO_COLOR && process.env.TERM !== 'dumb';

const writeError = (text: string): void => void process.stderr.write(text);

/** Resolves when the command has run. */
export const done = run();

async function run(): Promise<void> {
  process.exitCode = await runPetstore(process.argv.slice(2), {
    operations: JSON.parse(readFileSync(document, 'utf8')) as AdminDocument,
    openApp: async (use) => (app = await (await application()).openApplication(use, writeError)),
    closeApp: async () => app?.close(),
    loadModules: async () => void (await (await application()).importApplication(writeError)),
    write: (text) =>
      new Promise((resolve) => {
        process.stdout.write(text, (error) => resolve((stdoutError ??= error ?? undefined)));
      }),
    writeError,
    ...(process.stdout.isTTY ? { screen: { columns: columnsOf(process.stdout), isColored } } : {}),
    ...(isAskable ? { prompt: terminalPrompt(process.stdin, process.stderr) } : {}),
    readLine: (title) => readSecret(process.stdin, title),
  });
}
