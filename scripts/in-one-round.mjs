// Runs scripts of package.json one after the other, also when one has failed, so that all findings are shown in one round.
import { spawnSync } from 'node:child_process';

const failed = process.argv
  .slice(2)
  .filter((name) => spawnSync('npm', ['run', '-s', name], { stdio: 'inherit' }).status !== 0);
if (failed.length > 0) console.error(`Failed: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
