// What a start and a command cost: `npm run bench:start [-- <rounds>]`. Milliseconds from the start of the process to its first
// response, and of processor time for commands, alongside a Node.js that does nothing and the smallest service of Nest, in turn.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { peer } from './measure.mjs';
import { makeStore, median, startService } from './running-service.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PETSTORE = join(ROOT, 'bin/petstore.js');
const COMMANDS = {
  'node -e 0': ['-e', '0'],
  'petstore --help': [PETSTORE, '--help'],
  'petstore --version': [PETSTORE, '--version'],
  'petstore key verify': [PETSTORE, 'key', 'verify', 'pst_test_nothing'],
  'petstore completion words': [PETSTORE, 'completion', 'words', 'petstore cl'],
  'petstore client list': [PETSTORE, 'client', 'list'],
};

/** Processor time of a command, in milliseconds. */
async function cpuOf(folder, args) {
  const preload = join(ROOT, 'bench/cpu-at-exit.cjs');
  const child = spawn(process.execPath, ['--require', preload, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stdio[3].on('data', (chunk) => (output += chunk));
  await once(child, 'close');
  return Number(output) / 1_000;
}

/** From the start of the service to its first response, in milliseconds. */
async function serviceStart(store) {
  const service = await startService(store);
  await service.stop();
  return service.startMs;
}

/** The same of the smallest service of Nest. */
async function nestStart() {
  const startedAt = performance.now();
  const hello = await peer(join(ROOT, 'bench/peers/nest-hello.mjs'));
  await (await fetch(hello.url)).text();
  const startMs = performance.now() - startedAt;
  await hello.stop();
  return startMs;
}

const rounds = Number(process.argv[2] ?? 10);
const store = await makeStore(1_000);
const measures = {
  'first answer of the smallest Nest': nestStart,
  'first answer': () => serviceStart(store),
  ...Object.fromEntries(
    Object.entries(COMMANDS).map(([name, args]) => [name, () => cpuOf(store.folder, args)]),
  ),
};
const found = Object.fromEntries(Object.keys(measures).map((name) => [name, []]));
for (let round = 0; round < rounds; round += 1)
  for (const [name, measure] of Object.entries(measures)) found[name].push(await measure());
store.remove();

const shown = (name) => Math.round(median(found[name]));
const line = (name, of) =>
  `${name}: ${shown(name)} ms (${(median(found[name]) / median(found[of])).toFixed(1)} × ${of})`;
const nest = 'first answer of the smallest Nest';
console.log(`Node.js ${process.versions.node}, median of ${rounds}\n`);
console.log(`From the start of the process\n  ${nest}: ${shown(nest)} ms\n  ${line('first answer', nest)}\n`);
console.log('Processor time');
for (const name of Object.keys(COMMANDS)) console.log(`  ${line(name, 'node -e 0')}`);
