/** How one setting is read from its text. */
export interface SettingType<T> {
  /** What is allowed, in words that complete "must be …". */
  readonly allowed: string;
  /** The value, or undefined when the text is not allowed. */
  parse(text: string): T | undefined;
}

interface SettingDefinition {
  readonly variable: string;
  readonly type: SettingType<unknown>;
  readonly fallback: unknown;
  readonly secret: boolean;
}

const definitions = new Map<object, Map<string, SettingDefinition>>();

/**
 * Declares a property of a settings class. Its environment variable is the property's name in
 * SCREAMING_SNAKE case: `databaseUrl` is `DATABASE_URL`. An unset or empty variable takes the default.
 * A `secret` value is never repeated in a fault.
 */
export function Setting<T>(type: SettingType<T>, fallback: T, options: { secret?: boolean } = {}) {
  return (target: object, property: string): void => {
    const own = definitions.get(target.constructor) ?? new Map<string, SettingDefinition>();
    const variable = property.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
    own.set(property, { variable, type, fallback, secret: options.secret ?? false });
    definitions.set(target.constructor, own);
  };
}

/** Thrown when settings are wrong; `faults` has one line for each. */
export class SettingsError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

/** Names of the environment variables that a settings class reads, in the order of its properties. */
export function settingVariables(settingsClass: object): string[] {
  return [...(definitions.get(settingsClass)?.values() ?? [])].map(({ variable }) => variable);
}

/** Reads every declared property from the environment; throws SettingsError naming all faults at once. */
export function readSettings<T extends object>(
  settingsClass: new () => T,
  environment: Readonly<Record<string, string | undefined>>,
): T {
  const settings = new settingsClass();
  const faults: string[] = [];
  for (const [property, { variable, type, fallback, secret }] of definitions.get(settingsClass) ?? []) {
    const text = environment[variable]?.trim() ?? '';
    const value = text === '' ? fallback : type.parse(text);
    if (value === undefined) {
      const shown = secret ? 'the value given' : JSON.stringify(text);
      faults.push(`${variable}: ${shown} is not allowed; it must be ${type.allowed}.`);
    }
    Object.assign(settings, { [property]: value });
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return settings;
}
