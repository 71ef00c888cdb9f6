import type { SettingType } from './setting.js';

/** One setting as it is declared; its variable is made of the feature's name and the property's. */
export interface SettingDefinition<T = unknown> {
  /** What its text may be, such as `wholeNumber(1, 60_000)`. */
  readonly type: SettingType<T>;
  /** The value while the variable is unset or empty; null for none. */
  readonly default: T;
  /** What it does, in sentences for operators, with its unit; it stands in .env.example and docs/operations.md. */
  readonly description: string;
  /** A password or token, or a URL that may hold one: no fault names it, and what prints the settings leaves it out. */
  readonly secret?: boolean;
}

/** A setting with its environment variable, such as `ADOPTIONS_RESERVATION_MS`. */
export interface DeclaredSetting extends SettingDefinition {
  readonly variable: string;
  readonly property: string;
}

/** What the values are; it exists in types alone. */
declare const VALUES: unique symbol;

/** The settings of one feature, which `Settings.of()` answers the values of. */
export interface DeclaredSettings<Values extends object = object> {
  /** Name of the feature; empty for the platform. */
  readonly feature: string;
  readonly settings: readonly DeclaredSetting[];
  readonly [VALUES]?: Values;
}

/** The values that settings were declared with: `ValuesOf<typeof ADOPTIONS_SETTINGS>`. */
export type ValuesOf<Declared> = Declared extends DeclaredSettings<infer Values> ? Values : never;

/** The value of a setting: what its type parses, or null where that is the default. */
type ValueOf<Definition> = Definition extends { type: SettingType<infer T>; default: infer Default }
  ? T | (null extends Default ? null : never)
  : never;

/** The default of a setting must be a value of its type, or null. */
type WithDefault<Definition> = Definition extends { type: SettingType<infer T> }
  ? { readonly default: T | null }
  : never;

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

const FEATURE = /^([a-z][a-z0-9-]*)?$/;
const PROPERTY = /^[a-z][A-Za-z0-9]*$/;
const declared: DeclaredSettings[] = [];

/**
 * Declares the settings that a feature owns: `defineSettings('adoptions', { reservationMs: … })` is the environment variable
 * `ADOPTIONS_RESERVATION_MS`, and `settings.of(ADOPTIONS_SETTINGS).reservationMs` its value. Without a feature's name, as
 * the platform declares its own, variables have no prefix. Throws, and so stops the start, when a name is malformed, a
 * variable is declared twice, or a default is none of what is allowed.
 */
export function defineSettings<Definitions extends Readonly<Record<string, SettingDefinition>>>(
  feature: string,
  definitions: Definitions & { readonly [Property in keyof Definitions]: WithDefault<Definitions[Property]> },
): DeclaredSettings<{ readonly [Property in keyof Definitions]: ValueOf<Definitions[Property]> }> {
  if (!FEATURE.test(feature)) throw new Error(`Settings of "${feature}": that is no name of a feature.`);
  const taken = new Set(declared.flatMap(({ settings }) => settings.map(({ variable }) => variable)));
  const settings = Object.entries<SettingDefinition>(definitions).map(([property, definition]) => {
    if (!PROPERTY.test(property)) throw new Error(`Setting "${property}" is not in camelCase.`);
    const variable = variableOf(feature, property);
    if (taken.has(variable)) throw new Error(`Setting ${variable} is declared twice.`);
    taken.add(variable);
    const text = defaultTextOf(definition);
    if (text !== '' && definition.type.parse(text) === undefined)
      throw new Error(
        `Setting ${variable} has a default that is not allowed: it must be ${definition.type.allowed}.`,
      );
    return { ...definition, variable, property };
  });
  const own = { feature, settings };
  declared.push(own);
  return own;
}

/** All settings declared so far: those of the platform, then those of features in alphabetical order. */
export function declaredSettings(): DeclaredSettings[] {
  return declared.toSorted((a, b) => (a.feature < b.feature ? -1 : 1));
}

/** The default of a setting as it would stand in the environment; empty where there is none. */
export function defaultTextOf({ type, default: value }: SettingDefinition): string {
  if (value === null || value === undefined) return '';
  return type.write?.(value) ?? (typeof value === 'string' ? value : JSON.stringify(value));
}

/** Thrown when settings are invalid; `faults` has one line for each of them. */
export class SettingsError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

/**
 * Reads declared settings into an object; secrets are not enumerable there, so that no log shows them. Returns a line for each
 * fault.
 */
export function readInto(target: object, { settings }: DeclaredSettings, environment: Environment): string[] {
  const faults: string[] = [];
  for (const { variable, property, type, default: fallback, secret = false } of settings) {
    const text = environment[variable]?.trim() ?? '';
    const value = text === '' ? fallback : type.parse(text);
    if (value === undefined) {
      const shown = secret ? 'the value given' : JSON.stringify(text);
      faults.push(`${variable}: ${shown} is not allowed; it must be ${type.allowed}.`);
    }
    Object.defineProperty(target, property, { value, enumerable: !secret });
  }
  return faults;
}

function variableOf(feature: string, property: string): string {
  const name = property.replace(/[A-Z]/g, (letter) => `_${letter}`);
  const prefix = feature === '' ? '' : `${feature.replaceAll('-', '_')}_`;
  return `${prefix}${name}`.toUpperCase();
}
