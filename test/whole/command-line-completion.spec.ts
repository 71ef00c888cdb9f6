import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OnTerminal } from '../support/on-terminal.js';
import { emptyFolder, petstore, SERVICE } from '../support/service-process.js';

const PETSTORE = `'${process.execPath}' '${join(SERVICE, 'bin/petstore.js')}'`;

/** How each shell is started without what its user has set, and what prepares it. `petstore` answers what it is called with, but for words. */
const SHELLS = {
  bash: {
    start: 'exec bash --norc --noprofile -i',
    prepare: `petstore() { if [ "$2" = words ]; then ${PETSTORE} "$@"; else echo "got[$*]"; fi; }; source ./completion.bash; echo rea''dy`,
  },
  zsh: {
    start: 'exec zsh -f -i',
    prepare: `petstore() { if [ "$2" = words ]; then ${PETSTORE} "$@"; else print -r -- "got[$*]"; fi }; autoload -U compinit; compinit -u -D; source ./completion.zsh; echo rea''dy`,
  },
  fish: {
    start: 'exec fish --no-config -i',
    prepare: `function petstore; if test "$argv[2]" = words; ${PETSTORE} $argv; else; echo "got[$argv]"; end; end; source ./completion.fish; echo rea''dy`,
  },
};

/** What is typed, and what petstore is called with then. */
const TYPED = {
  'petstore cli\tset-\t': 'client set-plan',
  'petstore gen\tmig\t': 'generate migration',
  'petstore client create --per-m\t5 --na\tA': 'client create --per-minute 5 --name A',
  'petstore client create --plan ent\t': 'client create --plan enterprise',
  'petstore client create --plan=ent\t': 'client create --plan=enterprise',
  'petstore key issue --scopes pets:w\t': 'key issue --scopes pets:write',
  'petstore key issue --scopes admin,pets:r\t': 'key issue --scopes admin,pets:read',
  'petstore openapi --out elsewhere/uni\t': 'openapi --out elsewhere/unique-name.json',
  'petstore client create --name cr\t': 'client create --name cr',
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

const isInstalled = (shell: string): boolean =>
  (process.env.PATH ?? '').split(':').some((path) => existsSync(join(path, shell)));

describe.each(['bash', 'zsh', 'fish'] as const)('petstore in %s', (shell) => {
  it.skipIf(!isInstalled(shell))(
    'completes commands, options, values, scopes, files, and nothing it cannot know',
    async () => {
      const { start, prepare } = SHELLS[shell];
      const terminal = OnTerminal.run(folder, start, { HOME: folder }, 200);
      try {
        terminal.type(`${prepare}\r`);
        await terminal.shows(/\bready/);
        const got: string[] = [];
        for (const keys of Object.keys(TYPED)) {
          terminal.type(`${keys}\r`);
          await expect.poll(() => calls(terminal.screen).length).toBe(got.length + 1);
          got.push(calls(terminal.screen).at(-1) ?? '');
        }
        expect(got).toEqual(Object.values(TYPED));
      } finally {
        terminal.kill();
      }
    },
  );
});

/** What petstore was called with so far; fish leaves a comma behind the last of several values. */
const calls = (screen: string): string[] =>
  [...screen.matchAll(/got\[((?!\$)[^\]]*)\]/g)].map(([, call = '']) => call.trim().replace(/,$/, ''));
