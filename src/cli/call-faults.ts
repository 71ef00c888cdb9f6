import { type Command, InvalidArgumentError, type Option } from 'commander';

/**
 * What is wrong with how a command was called: Commander tells of the first fault alone, so what is missing and which values are
 * not allowed is collected here, to be told together.
 */
export class CallFaults {
  private readonly invalid = new Map<string, string>();
  private readonly mandatory: Option[] = [];

  private constructor(
    private readonly called: Command,
    private readonly argument: string | undefined,
  ) {}

  /** Gives a command its argument, such as `<id>` or, when it may be left out, `[id]`, and its options; answers the faults of its call. */
  static of(
    called: Command,
    options: readonly Option[],
    [name, description]: readonly [name: string, description?: string] | readonly [] = [],
  ): CallFaults {
    const [, required] = /^<(.+)>$/.exec(name ?? '') ?? [];
    const faults = new CallFaults(called, required);
    if (name !== undefined) {
      // Commander itself would refuse what is missing, before the options are looked at.
      called
        .argument(required === undefined ? name : `[${required}]`, description)
        .usage(`[options] ${name}`);
    }
    for (const option of options) called.addOption(faults.watched(option));
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
    return [
      ...(this.argument !== undefined && this.called.args.length === 0
        ? [`error: missing required argument '${this.argument}'`]
        : []),
      ...this.invalid.values(),
      ...this.mandatory
        .filter(isMissing)
        .map(({ flags }) => `error: required option '${flags}' not specified`),
    ];
  }

  /** Whether an option, by its long flag, has a fault already. */
  has(flag: string): boolean {
    return this.all().some((fault) => fault.includes(`'${flag} `));
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
