import { invalidDeclaration } from '../declaration-errors.js';
import type { SettingType } from './setting.js';

/** A declared setting; its variable is named after the feature and the property. */
export interface SettingDefinition<T = unknown> {
  /** The type of its value, such as `wholeNumber(1, 60_000)`. */
  readonly type: SettingType<T>;
  /** The value if the variable is unset or empty; may be null. A required setting has no default. */
  readonly default?: T | null;
  /** The service does not start if the variable is unset or empty. */
  readonly required?: true;
  /** A sample value of a required setting for .env.example, tests and `npm run docs:generate`. Never a real one. */
  readonly example?: T;
  /** Its effect and unit, in sentences for operators; for .env.example. */
  readonly description: string;
  /** Whether it is a password, a token, or a URL that may contain one: errors and listings of settings omit it. */
  readonly secret?: boolean;
}

/** A setting with its environment variable, such as `ADOPTIONS_RESERVATION_MS`. */
export interface DeclaredSetting extends SettingDefinition {
  readonly variable: string;
  readonly property: string;
  /** The default or, for a required setting, the example, as text for the environment; empty if there is none. */
  readonly text: string;
}

/** The types of the values, which exist only at compile time. */
declare const VALUES: unique symbol;

/** The settings of one feature, whose values `Settings.of()` returns. */
export interface DeclaredSettings<Values extends object = object> {
  /** Name of the feature; empty for the platform. */
  readonly feature: string;
  readonly settings: readonly DeclaredSetting[];
  readonly [VALUES]?: Values;
}

/** The values of declared settings: `ValuesOf<typeof ADOPTIONS_SETTINGS>`. */
export type ValuesOf<Declared> = Declared extends DeclaredSettings<infer Values> ? Values : never;

/** The value of a setting: the parsed type, or null if that is the default. */
type ValueOf<Definition> = Definition extends { type: SettingType<infer T> }
  ? T | (Definition extends { default: infer Default } ? (null extends Default ? null : never) : never)
  : never;

/** A setting's default must have its type or be null; a required setting has an example instead. */
type WithValue<Definition> = Definition extends { type: SettingType<infer T>; required: true }
  ? { readonly example: T; readonly default?: never }
  : Definition extends { type: SettingType<infer T> }
    ? { readonly default: T | null; readonly example?: never }
    : never;

export type Environment = Readonly<Record<string, string | undefined>>;

const FEATURE = /^([a-z][a-z0-9-]*)?$/;
const PROPERTY = /^[a-z][A-Za-z0-9]*$/;
const declared: DeclaredSettings[] = [];

/**
 * Declares a feature's settings: `defineSettings('adoptions', { reservationMs: … })` is the environment variable
 * `ADOPTIONS_RESERVATION_MS`, and `settings.of(ADOPTIONS_SETTINGS).reservationMs` its value. The platform declares its own without a
 * feature's name; their variables have no prefix. The service does not start with a malformed name, a duplicate variable, or an invalid
 * default or example.
 */
export function defineSettings<Definitions extends Readonly<Record<string, SettingDefinition>>>(
  feature: string,
  definitions: Definitions & { readonly [Property in keyof Definitions]: WithValue<Definitions[Property]> },
): DeclaredSettings<{ readonly [Property in keyof Definitions]: ValueOf<Definitions[Property]> }> {
  const existing = new Set(declared.flatMap(({ settings }) => settings.map(({ variable }) => variable)));
  if (!FEATURE.test(feature))
    invalidDeclaration(
      `Settings of "${feature}": the name of a feature consists of lower-case words joined by hyphens.`,
    );
  const settings = Object.entries<SettingDefinition>(definitions).map(([property, definition]) => {
    const variable = variableOf(feature, property);
    if (!PROPERTY.test(property))
      invalidDeclaration(
        `Setting "${property}" is not in camelCase. Rename it in the settings of "${feature}".`,
      );
    if (existing.has(variable))
      invalidDeclaration(`Setting ${variable} is declared twice. Rename the feature or the setting.`);
    existing.add(variable);
    const text = textOf(definition);
    const problem = valuesError(definition, text);
    if (problem !== undefined) invalidDeclaration(`Setting ${variable} ${problem}`);
    return { ...definition, variable, property, text };
  });
  const own = { feature, settings };
  declared.push(own);
  return own;
}

/** All declared settings: those of the platform, then those of features in alphabetical order. */
export function declaredSettings(): DeclaredSettings[] {
  return declared.toSorted((a, b) => (a.feature < b.feature ? -1 : 1));
}

/** An environment with the examples of all declared required settings, for tests and generated docs. */
export function exampleEnvironment(): Record<string, string> {
  const required = declared.flatMap(({ settings }) => settings).filter((setting) => setting.required);
  return Object.fromEntries(required.map(({ variable, text }) => [variable, text]));
}

/** Thrown if settings are invalid; its message has one line per error. */
export class SettingsError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/** Reads settings into an object, with secrets not enumerable so that no log contains them; returns one line per error. */
export function readInto(target: object, { settings }: DeclaredSettings, environment: Environment): string[] {
  const errors: string[] = [];
  for (const { variable, property, type, default: fallback, secret = false } of settings) {
    const text = environment[variable]?.trim() ?? '';
    const value = text === '' ? fallback : type.parse(text);
    if (value === undefined) {
      const shown = secret ? 'the value' : JSON.stringify(text);
      const error = text === '' ? 'not set' : `${shown} is not allowed`;
      const reason = type.hint?.(text);
      errors.push(
        `${variable}: ${error}; it must be ${type.mustBe}.${reason === undefined ? '' : ` ${reason}`}`,
      );
    }
    Object.defineProperty(target, property, { value, enumerable: !secret });
  }
  return errors;
}

function variableOf(feature: string, property: string): string {
  const name = property.replace(/[A-Z]/g, (letter) => `_${letter}`);
  const prefix = feature === '' ? '' : `${feature.replaceAll('-', '_')}_`;
  return `${prefix}${name}`.toUpperCase();
}

function textOf({ type, required, default: byDefault, example }: SettingDefinition): string {
  const value = required ? example : byDefault;
  if (value === null || value === undefined) return '';
  return type.format?.(value) ?? (typeof value === 'string' ? value : JSON.stringify(value));
}

/** The error in a setting's default or example, whose text this is; undefined if it is valid. */
function valuesError(definition: SettingDefinition, text: string): string | undefined {
  const { type, required = false } = definition;
  if (!required && definition.default === undefined) return 'must have a default or be required.';
  if (required && (text === '' || definition.default !== undefined))
    return 'is required, so it must have an example and no default.';
  if (text === '' || type.parse(text) !== undefined) return undefined;
  return `has ${required ? 'an example' : 'a default'} that is not allowed: it must be ${type.mustBe}.`;
}
