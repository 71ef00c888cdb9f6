import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BARE_ENVIRONMENT, ROOT, databaseOfTest, linesOf, SERVICE } from '../support/service-process.js';

/** Runs a module as Nest's documentation writes it, with `AppModule`, `createApp` and `ClientsService` imported, and this input. */
async function run(script: string, input = '') {
  const built = (file: string) => JSON.stringify(join(SERVICE, 'dist/src', file));
  const imports =
    `import { AppModule, createApp } from ${built('app.setup.js')}; ` +
    `import { ClientsService } from ${built('auth/clients/clients.service.js')};\n`;
  const env = { ...BARE_ENVIRONMENT, NO_COLOR: '1', DATABASE_URL: await databaseOfTest() };
  const options = { cwd: ROOT, env, input, encoding: 'utf8', timeout: 120_000 } as const;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', imports + script],
    options,
  );
  return { status, stderr, lines: stdout.split('\n') };
}

it('a standalone application closes, and its process ends by itself', async () => {
  const { status, stderr, lines } = await run(`
    import { NestFactory } from '@nestjs/core';
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
    console.log(await app.get(ClientsService).count());
    await app.close();
    console.log('closed');`);
  expect([status, stderr, lines]).toEqual([0, '', ['0', 'closed', '']]);
});

it('a REPL has the providers, and ends with .exit', async () => {
  const { status, lines } = await run(
    `import { repl } from '@nestjs/core';
    await repl(AppModule);`,
    'await get(ClientsService).count()\n.exit\n',
  );
  expect([status, lines.filter((line) => line.startsWith('> '))]).toEqual([0, ['> 0', '> ']]);
});

it('a script loses no line that it logs before process.exit()', async () => {
  const { status, stderr, lines } = await run(`
    import { Logger } from '@nestjs/common';
    await createApp();
    for (const line of ['first', 'second']) new Logger('Script').log(line);
    process.exit();`);
  const ofScript = linesOf(lines.join('\n')).filter(({ context }) => context === 'Script');
  expect([status, stderr, ofScript.map(({ msg }) => msg)]).toEqual([0, '', ['first', 'second']]);
});
