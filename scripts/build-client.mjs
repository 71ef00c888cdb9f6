// Builds the typed client in clients/typescript with this project's compiler, as ECMAScript modules and as CommonJS. Writes to the client's
// dist/ or to the given folder: `npm run client:build [-- <folder>]`. `npm pack` in clients/typescript runs this script first.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'clients/typescript');
const out = process.argv[2] === undefined ? join(folder, 'dist') : resolve(process.argv[2]);
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');

rmSync(out, { recursive: true, force: true });
const built = (form, ...options) => {
  const args = [compiler, '-p', folder, '--outDir', join(out, form), ...options];
  process.exitCode ||= spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
};
built('esm');
built('cjs', '--module', 'commonjs', '--moduleResolution', 'bundler');
writeFileSync(join(out, 'cjs/package.json'), '{ "type": "commonjs" }\n');
