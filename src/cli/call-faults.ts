import { type Command, InvalidArgumentError, type Option } from 'commander';
import { RepeatableOption } from './options.js';

/**
 * What is wrong with how a command was called: Commander tells of the first fault alone, so what is missing and which values are
 * not allowed is collected here, to be told together.
 */
export class CallFaults {
  private readonly invalid = new Map<string, string>();
  private readonly mandatory: Option[] = [];
  /** How often each option with one value was given. */
  private readonly given = new Map<Option, number>();

  private constructor(
    private readonly called: Command,
    private readonly argument: { readonly name: string; readonly isRequired: boolean } | undefined,
  ) {}

  /** Gives a command its argument, such as `<id>` or, when it may be left out, `[id]`, and its options; answers the faults of its call. */
  static of(
    called: Command,
    options: readonly Option[],
    [name, description]: readonly [name: string, description?: string] | readonly [] = [],
  ): CallFaults {
    const [, plain] = /^[<[](.+)[>\]]$/.exec(name ?? '') ?? [];
    const argument = plain === undefined ? undefined : { name: plain, isRequired: name?.[0] === '<' };
    const faults = new CallFaults(called, argument);
    if (name !== undefined) {
      // Commander itself would refuse what is missing, before the options are looked at.
      called.argument(`[${plain}]`, description).usage(`[options] ${name}`);
    }
    for (const option of options) {
      const watched = faults.watched(option);
      called.addOption(watched);
      if (!watched.isBoolean() && !(watched instanceof RepeatableOption))
        called.on(`option:${watched.name()}`, () =>
          faults.given.set(watched, (faults.given.get(watched) ?? 0) + 1),
        );
    }
    called.configureOutput({
      outputError: (text, write) => {
        const others = faults.all().filter((fault) => !text.includes(fault));
        write(`${[text.trimEnd(), ...others].join('\n')}\n`);
      },
    });
    return faults;
  }

  /** Every fault, in the order of the options. */
  all(): string[] {
    const isMissing = (option: Option) =>
      this.called.getOptionValue(option.attributeName()) === undefined &&
      !this.invalid.has(option.attributeName());
    const several = [...this.given].filter(([, times]) => times > 1);
    return [
      ...this.ofArgument(),
      ...this.invalid.values(),
      // Commander would take the last one without a word.
      ...several.map(([{ flags }, times]) => `error: option '${flags}' is given ${times} times`),
      ...this.mandatory
        .filter(isMissing)
        .map(({ flags }) => `error: required option '${flags}' not specified`),
    ];
  }

  /** Whether an option, by its long flag, has a fault already. */
  has(flag: string): boolean {
    return this.all().some((fault) => fault.includes(`'${flag} `));
  }

  /** An empty argument is what a shell makes of a variable that is not set: it stands for nothing, not for all. */
  private ofArgument(): string[] {
    if (this.argument === undefined) return [];
    const { name, isRequired } = this.argument;
    const [given] = this.called.args;
    if (given === undefined) return isRequired ? [`error: missing required argument '${name}'`] : [];
    return given.trim() === '' ? [`error: argument '${name}' is empty`] : [];
  }

  /** An option of this call: those that are declared serve every program that is made. */
  private watched(declared: Option): Option {
    const option = Object.assign(
      Object.create(Object.getPrototypeOf(declared) as object),
      declared,
    ) as Option;
    if (declared.mandatory) this.mandatory.push(option);
    option.makeOptionMandatory(false);
    const { parseArg } = declared;
    if (parseArg)
      option.parseArg = <T>(text: string, before: T): T => {
        try {
          return parseArg(text, before);
        } catch (error) {
          if (!(error instanceof InvalidArgumentError)) throw error;
          this.invalid.set(
            option.attributeName(),
            `error: option '${option.flags}' argument '${text}' is invalid. ${error.message}`,
          );
          return before;
        }
      };
    return option;
  }
}
