// Builds the typed client in clients/typescript with the compiler of this project, into its dist/ or into a folder that is named:
// `npm run client:build [-- <folder>]`. It has no packages of its own. `npm pack` and `npm publish` in its folder call this first.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'clients/typescript');
const out = process.argv[2] === undefined ? join(folder, 'dist') : resolve(process.argv[2]);

rmSync(out, { recursive: true, force: true });
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', folder, '--outDir', out], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
