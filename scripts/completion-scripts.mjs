// What `petstore completion …` prints, kept with a build: to make it, every feature has to be imported (328 ms in place of 64).
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Keeps the scripts in `completion` of a bundle, where the command finds them (src/cli/completion/completion.action.ts). If a feature
 * cannot be imported, or keeps the process alive, none are kept, and the command makes its script when it is called.
 */
export function keepCompletionScripts(bundle) {
  const cwd = join(bundle, 'completion');
  mkdirSync(cwd, { recursive: true });
  for (const shell of ['bash', 'zsh', 'fish']) {
    // Without the environment of whoever builds: a build is the same wherever it is made.
    const options = {
      cwd,
      env: { NODE_DISABLE_COMPILE_CACHE: '1' },
      timeout: 120_000,
      killSignal: 'SIGKILL',
    };
    const made = spawnSync(process.execPath, [join(bundle, 'cli', 'main.js'), 'completion', shell], options);
    if (made.status !== 0) {
      const reason = String(made.stderr).trim() || 'The command did not end in time.';
      process.stderr.write(`\`petstore completion\` has no script kept with this build. ${reason}\n`);
      return;
    }
    writeFileSync(join(cwd, `petstore.${shell}`), made.stdout);
  }
}
