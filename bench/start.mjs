// Measures the startup time of the service, from the start of the process to the first response, and the CPU time of commands: `npm run
// bench:start [-- <rounds>]`. For comparison, it also measures a minimal Nest service and a Node.js process that does nothing.
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

/** CPU time of a command, in milliseconds. */
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

/** Time from the start of the service to its first response, in milliseconds. */
async function serviceStart(store) {
  const service = await startService(store);
  await service.stop();
  return service.startMs;
}

/** The same for a minimal Nest service. */
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
  'first response of a minimal Nest service': nestStart,
  'first response': () => serviceStart(store),
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
const nest = 'first response of a minimal Nest service';
console.log(`Node.js ${process.versions.node}, median of ${rounds}\n`);
console.log(
  `From the start of the process\n  ${nest}: ${shown(nest)} ms\n  ${line('first response', nest)}\n`,
);
console.log('CPU time');
for (const name of Object.keys(COMMANDS)) console.log(`  ${line(name, 'node -e 0')}`);
