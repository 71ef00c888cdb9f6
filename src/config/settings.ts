import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { Global, Module } from '@nestjs/common';
import {
  type DeclaredSettings,
  type Environment,
  SettingsError,
  type ValuesOf,
  declaredSettings,
  defineSettings,
  readInto,
} from './define-settings.js';
import {
  baseUrl,
  databaseUrl,
  host,
  instant,
  oneOf,
  origins,
  portOrOff,
  redisUrl,
  trustedProxies,
  wholeNumber,
} from './setting.js';

/** Every setting of the platform: its type, range, default and description. */
export const PLATFORM_SETTINGS = defineSettings('', {
  nodeEnv: {
    type: oneOf('development', 'test', 'production'),
    default: 'development',
    description: 'In production the first start creates no demo data, and keys begin with pst_live_.',
  },
  host: { type: host, default: '127.0.0.1', description: 'Address to listen on; 0.0.0.0 for all.' },
  port: {
    type: wholeNumber(0, 65_535),
    default: 3000,
    description: 'Port of the API; 0 takes any free one.',
  },
  managementPort: {
    type: portOrOff,
    default: 3001,
    description: 'Port of /metrics, on the same address.',
  },
  databaseUrl: {
    type: databaseUrl,
    default: 'sqlite:data/petstore.sqlite',
    description:
      'The database. The file and its folder are created on first use; one in memory forgets everything at its end.',
    secret: true,
  },
  redisUrl: {
    type: redisUrl,
    default: null,
    description: 'Where instances share their quota counters. Unset: each process counts for itself.',
    secret: true,
  },
  redisTimeoutMs: {
    type: wholeNumber(1, 60_000),
    default: 50,
    description:
      'Timeout of Redis in milliseconds. When it has passed, the instance decides the request without Redis.',
  },
  logLevel: {
    type: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
    description: 'Lowest level that is logged.',
  },
  trustProxy: {
    type: trustedProxies,
    default: null,
    description:
      'The proxies in front of the service. It uses X-Forwarded-For only if this is set, and trusts at most 32 proxies in a row.',
  },
  corsOrigins: {
    type: origins,
    default: [],
    description: 'Origins whose pages may call the API from a browser.',
  },
  publicBaseUrl: {
    type: baseUrl,
    default: '/v1',
    description: 'Address of the production environment in the OpenAPI document.',
  },
  stagingBaseUrl: {
    type: baseUrl,
    default: 'https://staging.petstore.example/v1',
    description: 'Address of the staging environment in the OpenAPI document.',
  },
  bodyLimitBytes: {
    type: wholeNumber(1_024, 16_777_216),
    default: 102_400,
    description: 'Largest request body in bytes, after decoding.',
  },
  keepAliveTimeoutMs: {
    type: wholeNumber(1_000, 600_000),
    default: 72_000,
    description:
      'How long a connection stays open between two requests, in milliseconds. Set it higher than the keep-alive timeout of ' +
      'the load balancer (often 60 s); otherwise the load balancer sends requests into connections that have just been closed.',
  },
  headersTimeoutMs: {
    type: wholeNumber(1_000, 600_000),
    default: 15_000,
    description: 'Longest time in which the head of a request must arrive, in milliseconds; then 408.',
  },
  requestTimeoutMs: {
    type: wholeNumber(1_000, 600_000),
    default: 60_000,
    description: 'Longest time in which a whole request must arrive, in milliseconds; then 408.',
  },
  responseTimeoutMs: {
    type: wholeNumber(1_000, 600_000),
    default: 60_000,
    description:
      'Longest time in which a client must read a response, in milliseconds; then the service cuts its connection. A stream ' +
      'may take longer, as long as the client goes on reading it.',
  },
  sunsetNotBefore: {
    type: instant,
    default: 0,
    description:
      'Keeps deprecated operations available until this instant. It can postpone a removal; it cannot bring one forward.',
  },
  shutdownTimeoutMs: {
    type: wholeNumber(0, 600_000),
    default: 10_000,
    description: 'Longest time that a stop waits for requests in flight, in milliseconds.',
  },
});

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
   * Reads every setting that is declared; an unset or empty variable takes the default. Throws SettingsError, which names all
   * faults of all features at once.
   */
  constructor(environment: Environment) {
    super();
    this.#environment = environment;
    const faults = declaredSettings().flatMap((declared) =>
      declared === PLATFORM_SETTINGS ? readInto(this, declared, environment) : this.#read(declared),
    );
    if (faults.length > 0) throw new SettingsError(faults);
  }

  /** The settings that a feature declared. Throws SettingsError for a faulty one of a module that was loaded after the start. */
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

/**
 * The settings of this process: its environment over the file `.env` of the working directory.
 * Throws SettingsError with one line per fault.
 */
export function loadSettings(): Settings {
  return new Settings({ ...readEnvFile('.env'), ...process.env });
}

function readEnvFile(path: string): Environment {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/** Provides Settings to every module. */
@Global()
@Module({ providers: [{ provide: Settings, useFactory: loadSettings }], exports: [Settings] })
export class SettingsModule {}
