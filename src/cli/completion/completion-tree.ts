import type { Command, Option } from 'commander';
import { ListOption } from '../options.js';

/** What may follow an option: one of some values, several of them with commas between, a file, or what nobody but the caller knows. */
export type ValueKind = 'one' | 'list' | 'file' | 'free';

/** An option as a shell completes it. */
export interface OptionWords {
  /** Its long flag, such as `--plan`. */
  readonly flag: string;
  readonly description: string;
  /** Undefined for an option without a value. */
  readonly value?: { readonly kind: ValueKind; readonly values: readonly string[] };
}

/** A command as a shell completes it. */
export interface CommandWords {
  /** The words that lead to it, with blanks between, such as `client create`; empty for `petstore` itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionWords[];
}

/** Every command of a program with all that can follow it, as its help shows it. */
export function completionTree(program: Command): CommandWords[] {
  return wordsOf(program, []);
}

/** `<path> <word>` of every command that leads on to another: what a script walks along, such as ` client` and `client create`. */
export function pathPatterns(tree: readonly CommandWords[]): string[] {
  return tree.flatMap(({ path, commands }) => commands.map(({ name }) => `${path} ${name}`));
}

function wordsOf(one: Command, path: readonly string[]): CommandWords[] {
  const help = one.createHelp();
  const commands = help.visibleCommands(one);
  return [
    {
      path: path.join(' '),
      commands: commands.map((child) => ({ name: child.name(), description: child.description() })),
      options: help.visibleOptions(one).map(optionWords),
    },
    ...commands.flatMap((child) => wordsOf(child, [...path, child.name()])),
  ];
}

function optionWords(option: Option): OptionWords {
  const { long, flags, description, argChoices, required, optional } = option;
  const words = { flag: long ?? flags, description };
  if (!required && !optional) return words;
  if (argChoices) return { ...words, value: { kind: 'one', values: argChoices } };
  if (option instanceof ListOption) return { ...words, value: { kind: 'list', values: option.values() } };
  return { ...words, value: { kind: flags.endsWith('<file>') ? 'file' : 'free', values: [] } };
}
