import {
  type DeclaredSettings,
  type Environment,
  SettingsError,
  type ValuesOf,
  declaredSettings,
  readInto,
} from './define-settings.js';
import { environmentOfProcess } from './env-file.js';
import { PLATFORM_SETTINGS } from './platform-settings.js';

/** Gives Settings the properties of PLATFORM_SETTINGS, which its constructor sets. */
const PlatformValues = class {} as new () => Readonly<ValuesOf<typeof PLATFORM_SETTINGS>>;

/**
 * All settings of the service. Inject it to read one: `settings.port` is a platform setting,
 * `settings.of(ADOPTIONS_SETTINGS).reservationMs` a feature's.
 */
export class Settings extends PlatformValues {
  readonly #environment: Environment;
  readonly #ofFeatures = new Map<DeclaredSettings, object>();

  /**
   * Reads all declared settings; unset or empty variables have the default. Throws SettingsError with the errors of all features at once.
   */
  constructor(environment: Environment) {
    super();
    this.#environment = environment;
    const errors = declaredSettings().flatMap((declared) =>
      declared === PLATFORM_SETTINGS ? readInto(this, declared, environment) : this.#read(declared),
    );
    if (errors.length > 0) throw new SettingsError(errors);
  }

  /** The settings of a feature. Throws SettingsError if they are invalid and their module was loaded after startup. */
  of<Values extends object>(declared: DeclaredSettings<Values>): Readonly<Values> {
    if (!this.#ofFeatures.has(declared)) {
      const errors = this.#read(declared);
      if (errors.length > 0) throw new SettingsError(errors);
    }
    return this.#ofFeatures.get(declared) as Readonly<Values>;
  }

  #read(declared: DeclaredSettings): string[] {
    const values = {};
    const errors = readInto(values, declared, this.#environment);
    if (errors.length === 0) this.#ofFeatures.set(declared, values);
    return errors;
  }
}

/** The token of the defaults passed to createApp(). */
export const DEFAULT_SETTINGS = Symbol('default settings');

/** The settings of this process; `defaults` are by variable. Throws SettingsError with one line per error. */
export function loadSettings(defaults?: Environment): Settings {
  return new Settings(environmentOfProcess(defaults));
}
