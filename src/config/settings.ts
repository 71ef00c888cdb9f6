import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { Global, Module } from '@nestjs/common';
import {
  Setting,
  baseUrl,
  databaseUrl,
  host,
  instant,
  oneOf,
  origins,
  portOrOff,
  readSettings,
  redisUrl,
  trustedProxies,
  wholeNumber,
} from './setting.js';

/** Every setting of the service: its type, range and default. Inject it where a setting is needed. */
export class Settings {
  /** `production` keeps the demo data away and makes `live` keys. */
  @Setting(oneOf('development', 'test', 'production'), 'development')
  readonly nodeEnv!: 'development' | 'test' | 'production';

  /** Address that the API listens on. */
  @Setting(host, '127.0.0.1')
  readonly host!: string;

  /** Port of the API; 0 takes any free one. */
  @Setting(wholeNumber(0, 65_535), 3000)
  readonly port!: number;

  /** Port of /metrics, on the same address; 0 takes any free one, null switches it off. */
  @Setting(portOrOff, 3001)
  readonly managementPort!: number | null;

  /** Where the data is. It may hold a password. */
  @Setting(databaseUrl, 'sqlite:data/petstore.sqlite', { secret: true })
  readonly databaseUrl!: string;

  /** Where instances share quota counters; null counts in this process alone. It may hold a password. */
  @Setting<string | null>(redisUrl, null, { secret: true })
  readonly redisUrl!: string | null;

  /** Longest that a request waits for Redis before it is decided without it, in milliseconds. */
  @Setting(wholeNumber(1, 60_000), 50)
  readonly redisTimeoutMs!: number;

  /** Least level that is logged. */
  @Setting(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'info')
  readonly logLevel!: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

  /** Whose X-Forwarded-For is believed; null believes nobody. */
  @Setting<number | readonly string[] | null>(trustedProxies, null)
  readonly trustProxy!: number | readonly string[] | null;

  /** Origins whose pages may call the API from a browser. */
  @Setting(origins, [])
  readonly corsOrigins!: readonly string[];

  /** Base address of the production environment in the OpenAPI document; it ends in /v1. */
  @Setting(baseUrl, '/v1')
  readonly publicBaseUrl!: string;

  /** Base address of the staging environment in the OpenAPI document; it ends in /v1. */
  @Setting(baseUrl, 'https://staging.petstore.example/v1')
  readonly stagingBaseUrl!: string;

  /** Largest request body in bytes, after decoding. */
  @Setting(wholeNumber(1_024, 16_777_216), 102_400)
  readonly bodyLimitBytes!: number;

  /** How long a connection stays open between two requests, in milliseconds; longer than a load balancer's own, often 60 s. */
  @Setting(wholeNumber(1_000, 600_000), 72_000)
  readonly keepAliveTimeoutMs!: number;

  /** Longest that the head of a request may take to arrive, in milliseconds. */
  @Setting(wholeNumber(1_000, 600_000), 15_000)
  readonly headersTimeoutMs!: number;

  /** Longest that a whole request may take to arrive, in milliseconds. */
  @Setting(wholeNumber(1_000, 600_000), 60_000)
  readonly requestTimeoutMs!: number;

  /** Longest that a client may take to read an answer, in milliseconds. */
  @Setting(wholeNumber(1_000, 600_000), 60_000)
  readonly responseTimeoutMs!: number;

  /** No deprecated operation is removed before this instant (ms since the epoch), whatever its own date. */
  @Setting(instant, 0)
  readonly sunsetNotBefore!: number;

  /** Longest that a stop waits for requests in flight, in milliseconds. */
  @Setting(wholeNumber(0, 600_000), 10_000)
  readonly shutdownTimeoutMs!: number;
}

/**
 * The settings of this process: its environment over the file `.env` of the working directory.
 * Throws SettingsError with one line per fault.
 */
export function loadSettings(): Settings {
  return readSettings(Settings, { ...readEnvFile('.env'), ...process.env });
}

function readEnvFile(path: string): Readonly<Record<string, string | undefined>> {
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
