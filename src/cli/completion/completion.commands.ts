import { type Addition, command, group } from '../command.js';

/** The shells that there are scripts for. */
const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** `petstore completion …`: scripts by which shells complete its commands, options and their values. */
export const COMPLETION_COMMANDS: Addition = (program, shell) => {
  const scripts = SHELLS.map((name) =>
    command({
      name,
      description: `print what has ${name} complete commands, options and their values`,
      examples: [`completion ${name}`],
      action: async () => (await import('./completion.action.js')).completion(name, program),
    }),
  );
  group('completion', 'what has a shell complete the words of petstore', scripts)(program, shell);
};
