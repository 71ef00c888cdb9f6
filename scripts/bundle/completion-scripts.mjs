// What `petstore completion …` prints, made once for a build: to make it, every feature has to be imported.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SHELLS = ['bash', 'zsh', 'fish'];
/** A feature that keeps a process alive when it is imported must not keep the build waiting for longer, in milliseconds. */
const MOST_MS = 30_000;

/**
 * Has the command line of a bundle print its scripts, and keeps them in `completion` of that bundle, where the command finds them
 * (src/cli/completion/completion.action.ts). Where a feature cannot be imported none is kept: the command says what is wrong with it.
 */
export async function keepCompletionScripts(bundle) {
  const folder = join(bundle, 'completion');
  await mkdir(folder, { recursive: true });
  await Promise.all(SHELLS.map((shell) => keepScript(bundle, folder, shell)));
}

async function keepScript(bundle, folder, shell) {
  const args = [join(bundle, 'cli', 'main.js'), 'completion', shell];
  // In its own folder: there are no settings of the operator.
  const options = { cwd: folder, env: { NODE_DISABLE_COMPILE_CACHE: '1' }, timeout: MOST_MS };
  const made = await promisify(execFile)(process.execPath, args, options).catch(() => undefined);
  if (made) await writeFile(join(folder, `petstore.${shell}`), made.stdout);
}
