import { type Addition, command, group } from '../frame/command.js';
import { completionsOf } from './completions.js';
import { SHELL_SCRIPTS } from './shell-scripts.js';

/** `petstore completion …`: shell completion scripts for commands, options and their values. */
export const COMPLETION_COMMANDS: Addition = (program, shell) => {
  const scripts = Object.entries(SHELL_SCRIPTS).map(([name, script]) =>
    command(name, {
      description: `print the ${name} script for the completion of commands, options and values`,
      examples: [`completion ${name}`],
      run: (call) => call.show({ script }, () => script),
    }),
  );
  const words = command('words', {
    description: 'print the possible next words of a command line; the completion scripts call this',
    argument: ['<line>', 'the line up to the cursor'],
    examples: [`completion words 'petstore client cr'`],
    run: async (call, line) => {
      const found = await completionsOf(program, line, call);
      await call.show(found, () => [found.kind, ...found.words.map((word) => word.join('\t'))].join('\n'));
    },
  });
  group('completion', 'completion of petstore commands in a shell', [...scripts, words])(program, shell);
};
