import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { action } from '../action.js';
import { bashCompletion } from './bash-completion.js';
import { completionTree } from './completion-tree.js';
import { fishCompletion } from './fish-completion.js';
import { zshCompletion } from './zsh-completion.js';

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** `petstore completion bash` and its likes: the script for a shell, of every command of the program. */
export const completion = (name: keyof typeof SCRIPTS, program: Command) =>
  action({
    runAlone: async ({ loadModules }) => {
      const kept = await keptScript(name);
      if (kept !== undefined) return { script: kept };
      // They declare scopes, which are values of options.
      await loadModules();
      return { script: SCRIPTS[name](completionTree(program)) };
    },
    text: ({ script }) => script,
  });

/**
 * The script that was made with the bundle (scripts/completion-scripts.mjs). Undefined in a program that no bundle was made of,
 * and while the bundle's are made.
 */
async function keptScript(name: string): Promise<string | undefined> {
  // In the bundle this file is part of one in bundle/chunks.
  const file = new URL(`../completion/petstore.${name}`, import.meta.url);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text?.trimEnd();
}
