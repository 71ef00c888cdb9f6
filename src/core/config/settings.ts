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

/** Gives Settings the properties of PLATFORM_SETTINGS, which its constructor reads. */
const PlatformValues = class {} as new () => Readonly<ValuesOf<typeof PLATFORM_SETTINGS>>;

/**
 * Every setting of the service. Inject it where a setting is needed: `settings.port` is one of the platform,
 * `settings.of(ADOPTIONS_SETTINGS).reservationMs` one of a feature.
 */
export class Settings extends PlatformValues {
  readonly #environment: Environment;
  readonly #ofFeatures = new Map<DeclaredSettings, object>();

  /**
   * Reads every declared setting; an unset or empty variable has the default. Throws SettingsError, which lists the errors of all features
   * at once.
   */
  constructor(environment: Environment) {
    super();
    this.#environment = environment;
    const faults = declaredSettings().flatMap((declared) =>
      declared === PLATFORM_SETTINGS ? readInto(this, declared, environment) : this.#read(declared),
    );
    if (faults.length > 0) throw new SettingsError(faults);
  }

  /** The settings of a feature. Throws SettingsError if they are invalid and their module was loaded after the start. */
  of<Values extends object>(declared: DeclaredSettings<Values>): Readonly<Values> {
    if (!this.#ofFeatures.has(declared)) {
      const faults = this.#read(declared);
      if (faults.length > 0) throw new SettingsError(faults);
    }
    return this.#ofFeatures.get(declared) as Readonly<Values>;
  }

  #read(declared: DeclaredSettings): string[] {
    const values = {};
    const faults = readInto(values, declared, this.#environment);
    if (faults.length === 0) this.#ofFeatures.set(declared, values);
    return faults;
  }
}

/** The token of the defaults that createApp() is given. */
export const DEFAULT_SETTINGS = Symbol('default settings');

/** The settings of this process; `defaults` are by variable. Throws SettingsError with one line per error. */
export function loadSettings(defaults?: Environment): Settings {
  return new Settings(environmentOfProcess(defaults));
}
