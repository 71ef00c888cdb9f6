import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { OnTerminal } from '../support/on-terminal.js';
import { emptyFolder, petstore, ROOT } from '../support/service-process.js';

const run = promisify(execFile);

/** How each shell is started without what its user has set, and what prepares it. `petstore` answers what it is called with. */
const SHELLS = {
  bash: {
    start: 'exec bash --norc --noprofile -i',
    prepare: `petstore() { echo "got[$*]"; }; source ./completion.bash; echo rea''dy`,
  },
  zsh: {
    start: 'exec zsh -f -i',
    prepare: `petstore() { print -r -- "got[$*]" }; autoload -U compinit; compinit -u -D; source ./completion.zsh; echo rea''dy`,
  },
  fish: {
    start: 'exec fish --no-config -i',
    prepare: `function petstore; echo "got[$argv]"; end; source ./completion.fish; echo rea''dy`,
  },
};

let folder: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ path: folder, remove } = await emptyFolder());
  await mkdir(join(folder, 'elsewhere'));
  await writeFile(join(folder, 'elsewhere/unique-name.json'), '');
  for (const name of Object.keys(SHELLS)) {
    const { code, stdout, stderr } = await petstore(folder, ['completion', name]);
    expect([code, stderr]).toEqual([0, '']);
    await writeFile(join(folder, `completion.${name}`), stdout);
  }
});
afterAll(() => remove());

it.each(Object.keys(SHELLS))(
  'the script for %s is that of the commands and scopes of this build',
  async (name) => {
    // The same program without its bundle, which keeps no scripts.
    const made = await run(process.execPath, [join(ROOT, 'dist/src/cli/main.js'), 'completion', name], {
      cwd: folder,
    });
    expect(await readFile(join(folder, `completion.${name}`), 'utf8')).toBe(made.stdout);
  },
);

it('a build whose program cannot make them keeps none, and tells why', async () => {
  const bundle = await emptyFolder();
  onTestFinished(bundle.remove);
  await mkdir(join(bundle.path, 'cli'));
  await writeFile(join(bundle.path, 'cli/main.js'), "throw 'src/pets/pets.module.ts:9: cannot be imported'");
  const script = pathToFileURL(join(ROOT, 'scripts/completion-scripts.mjs')).href;
  const code = `(await import('${script}')).keepCompletionScripts(process.cwd())`;
  const { stderr } = await run(process.execPath, ['--input-type=module', '-e', code], { cwd: bundle.path });
  expect(stderr).toMatch(/no script kept with this build\. [^]*pets\.module\.ts:9: cannot be imported/);
  expect(await readdir(join(bundle.path, 'completion'))).toEqual([]);
});

/** Types keys into a shell on a terminal and answers what petstore was called with. */
async function typed(shell: keyof typeof SHELLS, keys: string): Promise<string> {
  const { start, prepare } = SHELLS[shell];
  const terminal = OnTerminal.run(folder, start, { HOME: folder }, 200);
  try {
    terminal.type(`${prepare}\r`);
    await terminal.shows(/\bready/);
    terminal.type(`${keys}\r`);
    const [, got = ''] = await terminal.shows(/got\[((?!\$)[^\]]*)\]/);
    return got.trim();
  } finally {
    terminal.kill();
  }
}

const isInstalled = (shell: string): boolean =>
  (process.env.PATH ?? '').split(':').some((path) => existsSync(join(path, shell)));

for (const shell of ['bash', 'zsh', 'fish'] as const)
  describe.skipIf(!isInstalled(shell))(
    `${shell}${isInstalled(shell) ? '' : ` is not installed (Debian: ${shell}), where petstore`} completes`,
    () => {
      it.each([
        ['commands', 'petstore cli\tset-\t', 'client set-plan'],
        ['commands of a group that was completed', 'petstore gen\tmig\t', 'generate migration'],
        ['options', 'petstore client create --per-m\t5 --na\tA', 'client create --per-minute 5 --name A'],
        [
          'values of a closed option',
          'petstore client create --plan ent\t',
          'client create --plan enterprise',
        ],
        ['them behind =', 'petstore client create --plan=ent\t', 'client create --plan=enterprise'],
        [
          'scopes that modules declare',
          'petstore key issue --scopes pets:w\t',
          'key issue --scopes pets:write',
        ],
        [
          'the last of several',
          'petstore key issue --scopes admin,pets:r\t',
          'key issue --scopes admin,pets:read',
        ],
        ['files', 'petstore openapi --out elsewhere/uni\t', 'openapi --out elsewhere/unique-name.json'],
        ['shells', 'petstore completion z\t', 'completion zsh'],
        ['nothing it cannot know', 'petstore client create --name cr\t', 'client create --name cr'],
      ])('%s', async (_, keys, call) => {
        expect((await typed(shell, keys)).replace(/,$/, '')).toBe(call);
      });
    },
  );
