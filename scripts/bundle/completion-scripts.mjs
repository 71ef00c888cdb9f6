// What `petstore completion …` prints, made once for a build: to make it, every feature has to be imported.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SHELLS = ['bash', 'zsh', 'fish'];
/** For what hangs, in milliseconds: a feature that keeps a process alive when it is imported must not keep the build waiting for ever. */
const MOST_MS = 120_000;

/**
 * Has the command line of a bundle print its scripts, and keeps them in `completion` of that bundle, where the command finds them
 * (src/cli/completion/completion.action.ts). Where a feature cannot be imported none is kept, which standard error is told, and the
 * command makes its script when it is called.
 */
export async function keepCompletionScripts(bundle) {
  const folder = join(bundle, 'completion');
  await mkdir(folder, { recursive: true });
  const reasons = await Promise.all(SHELLS.map((shell) => keepScript(bundle, folder, shell)));
  const reason = reasons.find((told) => told !== undefined);
  if (reason !== undefined)
    process.stderr.write(`\`petstore completion\` has no script kept with this build. ${reason}\n`);
}

/** Answers why the script of a shell cannot be kept, or undefined. */
async function keepScript(bundle, folder, shell) {
  const args = [join(bundle, 'cli', 'main.js'), 'completion', shell];
  // In its own folder, and without the builder's environment: a build is the same wherever it is made.
  const options = {
    cwd: folder,
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
    timeout: MOST_MS,
    killSignal: 'SIGKILL',
  };
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    await writeFile(join(folder, `petstore.${shell}`), stdout);
    return undefined;
  } catch ({ killed, stderr, message }) {
    return killed ? `The command did not end within ${MOST_MS / 1_000} s.` : stderr?.trim() || message;
  }
}
