import type { Command } from 'commander';

/** Code of a page: a line of a fenced block, which is run as it stands, or code inside a sentence, which may be a part or a form. */
export interface Code {
  readonly text: string;
  readonly isLine: boolean;
}

/** A call of the command line: its words without the leading `petstore`. One of a `form` may lack what a call needs. */
export interface DocumentedCall {
  readonly words: readonly string[];
  readonly isForm: boolean;
}

/** Where the name of the command line stands; it is that of a user, a database, a container and a unit, too. */
const CALLED = /(?:^|npx |-- |exec petstore )petstore (?=[a-z-])/;
const WORDS = /'([^']*)'|"([^"]*)"|(\S+)/g;

/** Everything of a page that stands in code, in its order. */
export function codeIn(page: string): Code[] {
  return [...page.matchAll(/```[^\n]*\n([^]*?)```|`([^`]+)`/g)].flatMap(([, block, inline = '']): Code[] =>
    block === undefined
      ? [{ text: inline.replaceAll(/\s+/g, ' '), isLine: false }]
      : block
          .replaceAll('\\\n', ' ')
          .split('\n')
          .map((text) => ({ text, isLine: true })),
  );
}

/** The calls of the command line in a page; a sentence may have them without the leading `petstore`, as `key revoke`. */
export function callsIn(page: string, program: Command): DocumentedCall[] {
  const groups = program.commands.filter(({ commands }) => commands.length > 0);
  const group = new RegExp(`^(?:${groups.map((one) => one.name()).join('|')}) [a-z-]+(?:\\|[a-z-]+)*(?= |$)`);
  return codeIn(page).flatMap(({ text, isLine }) =>
    commandsOf(text).flatMap((part) => {
      const at = CALLED.exec(part);
      if (at) return [{ words: wordsOf(part.slice(at.index + at[0].length)), isForm: !isLine }];
      return !isLine && group.test(part) ? [{ words: wordsOf(part), isForm: true }] : [];
    }),
  );
}

/** The commands of a line of a shell, without its comment, and without what they read from and write to. */
function commandsOf(line: string): string[] {
  return line
    .replaceAll(/<[a-z][^<>]*>/g, (name) => name.replaceAll(' ', '-'))
    .replaceAll(/\$\([^)]*\)/g, 'x')
    .replace(/(?:^|\s)#.*/, '')
    .split(/ (?:&&|;|\|) /)
    .map((part) => part.replace(/ (?:2?>+ ?|< )\S.*/, '').trim());
}

const wordsOf = (call: string): string[] =>
  [...call.matchAll(WORDS)].map(([, single, double, word]) => single ?? double ?? word ?? '');

/** What is wrong with a call, which is not carried out; undefined when nothing is. */
export function faultOfCall({ words, isForm }: DocumentedCall, program: Command): string | undefined {
  const rest = [...words];
  let command = program;
  while (command.commands.length > 0) {
    const names = rest.shift();
    if (names === undefined || names === '--help' || names === '--version' || /^[<…]/.test(names))
      return undefined;
    // A sentence may have several in one: `client suspend|resume`.
    const found = names.split('|').map((name) => command.commands.find((one) => one.name() === name));
    const [first] = found;
    if (!first || found.includes(undefined)) return `no such command: ${names}`;
    if (found.length > 1) return undefined;
    command = first;
  }
  const { plain, fault } = readWords(rest, command);
  if (fault !== undefined) return fault;
  const more = plain[command.registeredArguments.length];
  if (more !== undefined) return `takes no "${more}"`;
  const [needed] = /<.+>/.exec(command.usage()) ?? [];
  return isForm || needed === undefined || plain.length > 0 ? undefined : `needs ${needed}`;
}

/** The options and the arguments among the words of a call, and the first option that is none or has another value. */
function readWords(words: readonly string[], command: Command) {
  const rest = words
    .map((word) => word.replaceAll(/[[\]]/g, ''))
    .filter((word) => word !== '' && word !== '…');
  const plain: string[] = [];
  while (rest.length > 0) {
    const word = rest.shift() ?? '';
    if (!/^--?[a-z]/.test(word)) {
      plain.push(word);
      continue;
    }
    if (word === '--help') continue;
    const option = command.options.find(({ long }) => long === word);
    if (!option) return { plain, fault: `no such option: ${word}` };
    // In a form the value may be left out: `[--expires]`.
    const value =
      (option.required || option.optional) && !rest[0]?.startsWith('--') ? rest.shift() : undefined;
    const wrong = option.argChoices && value?.split(/\\?\|/).find((one) => !option.argChoices?.includes(one));
    if (wrong !== undefined) return { plain, fault: `${word} takes no "${wrong}"` };
  }
  return { plain, fault: undefined };
}
