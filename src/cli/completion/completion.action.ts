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
      // They declare scopes, which are values of options.
      await loadModules();
      return { script: SCRIPTS[name](completionTree(program)) };
    },
    text: ({ script }) => script,
  });
