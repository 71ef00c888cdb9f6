import { type Addition, command, group } from '../command.js';
import { bashCompletion } from './bash-completion.js';
import { completionTree } from './completion-tree.js';
import { fishCompletion } from './fish-completion.js';
import { zshCompletion } from './zsh-completion.js';

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** `petstore completion …`: scripts by which shells complete its commands, options and their values. */
export const COMPLETION_COMMANDS: Addition = (program, shell) => {
  const scripts = Object.entries(SCRIPTS).map(([name, scriptOf]) =>
    command({
      name,
      description: `print what has ${name} complete commands, options and their values`,
      examples: [`completion ${name}`],
      runAlone: async ({ loadModules }) => {
        // They declare scopes, which are values of options.
        await loadModules();
        return { script: scriptOf(completionTree(program)) };
      },
      text: ({ script }) => script,
    }),
  );
  group('completion', 'what has a shell complete the words of petstore', scripts)(program, shell);
};
