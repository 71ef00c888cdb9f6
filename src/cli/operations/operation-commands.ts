import type { Option } from 'commander';
import { kebab } from '../../admin/commands/command-names.js';
import { type Addition, REMOTE, WIDE, YES, command, flag, group, list, option } from '../frame/command.js';
import { type Input, type Operation, optionName } from './operations.js';

/**
 * The commands for API operations. Each imports run-operation.ts, which sends the request, only when called. A tag describes the first
 * group of its operations; another group, such as `plan` next to `client`, has the description of its first command.
 */
export function operationCommands(operations: readonly Operation[]): Addition[] {
  const described = new Map<string, string>();
  return operations.map((operation) => {
    const [groupName = '', name = ''] = operation.command.split(' ');
    const [ofOperation, ofTag] = operation.texts;
    if (!described.has(ofTag)) described.set(ofTag, groupName);
    const text = described.get(ofTag) === groupName ? ofTag : ofOperation;
    return group(groupName, firstSentence(text), [commandOf(name, operation)]);
  });
}

function commandOf(name: string, operation: Operation): Addition {
  const { command: commandName, facts, isPaged, isText, method, texts } = operation;
  const isArgument = (one: Input): boolean => facts.arguments?.includes(one.name) ?? one.in === 'path';
  const args = operation.inputs.filter(isArgument);
  const inputs = operation.inputs.filter((one, at, all) => {
    const isOfPage = isPaged && /^(?:limit|cursor)$/.test(one.name);
    const isFirst = all.findIndex((other) => optionName(other) === optionName(one)) === at;
    const isNamed = facts.options?.includes(one.name) ?? true;
    return one.in !== 'path' && !isArgument(one) && !isOfPage && isFirst && isNamed;
  });
  const limit = option('--limit <entries>', `maximum number of entries; default: ${facts.limit ?? 'all'}`);
  const options = [
    ...inputs.flatMap(optionsOf),
    ...(isPaged && facts.none === undefined ? [limit, WIDE] : []),
    ...(facts.question !== undefined || method === 'delete' ? [YES] : []),
  ];
  // A change needs at least one of its members.
  const change = method === 'patch' ? inputs.find((one) => one.in === 'body') : undefined;
  const shown = inputs.map((one) => (one === change ? { ...one, isRequired: true } : one));
  const remote = REMOTE.filter(({ long }) => options.every((one) => one.long !== long));
  return command(name, {
    description: firstSentence(facts.text ?? (texts[0] || commandName)),
    arguments: args.map((one) => [`<${optionName(one)}>`, meaningOf(one)] as const),
    options: [...options, ...remote],
    isRemote: true,
    isDefault: facts.isDefault ?? false,
    hasNoJson: isText,
    examples: [
      [commandName, ...args.map((one) => `<${optionName(one)}>`), ...shown.flatMap(exampleOf)].join(' '),
    ],
    run: async (call, ...positional) => {
      const values = new Map<Input, unknown>(args.map((one, at) => [one, positional[at]]));
      for (const one of inputs) values.set(one, call.options[camel(optionName(one))]);
      await (await import('./run-operation.js')).runOperation(call, operation, values);
    },
  });
}

/** The options for an input: one with a value or a flag, and one that clears the value. */
function optionsOf(input: Input): Option[] {
  const { nullable = false, type, enum: choices } = input.schema;
  const optionWord = optionName(input);
  const meaning = meaningOf(input);
  if (type === 'boolean') return [flag(`--${optionWord}`, meaning)];
  const withValue =
    type === 'array'
      ? list(`--${optionWord} <a,b>`, meaning)
      : option(`--${optionWord} <${optionWord}>`, meaning, choices);
  return nullable ? [withValue, flag(`--no-${optionWord}`, `remove the ${optionWord}`)] : [withValue];
}

function exampleOf({ isRequired, ...input }: Input): string[] {
  const { enum: [choice] = [], example = choice ?? `<${optionName(input as Input)}>` } = input.schema;
  const text = [example].flat().join(',');
  return isRequired ? [`--${optionName(input as Input)} ${/[ '"$]/.test(text) ? `'${text}'` : text}`] : [];
}

function meaningOf({
  name,
  schema: { description = `the ${kebab(name)}`, default: byDefault, format },
  in: place,
}: Input): string {
  const forms =
    place === 'query' && format === 'date-time' ? ', such as 2026-11-29, or 1h for an hour ago' : '';
  return `${firstSentence(description)}${forms}${byDefault === undefined ? '' : `; default: ${String(byDefault)}`}`;
}

function camel(kebabName: string): string {
  return kebabName.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function firstSentence(text: string): string {
  return text.split(/\.(?:\s|$)/, 1)[0] ?? '';
}
