// Runs scripts from package.json one after another. Continues after a failure, so that a single run shows all problems.
import { spawnSync } from 'node:child_process';

const failed = process.argv
  .slice(2)
  .filter((name) => spawnSync('npm', ['run', '-s', name], { stdio: 'inherit' }).status !== 0);
if (failed.length > 0) console.error(`Failed: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
