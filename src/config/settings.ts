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
  /** `production` loads no demo data and issues `live` keys. */
  @Setting(oneOf('development', 'test', 'production'), 'development')
  readonly nodeEnv!: 'development' | 'test' | 'production';

  /** Address that the API listens on. */
  @Setting(host, '127.0.0.1')
  readonly host!: string;

  /** Port of the API; 0 takes any free one. */
  @Setting(wholeNumber(0, 65_535), 3000)
  readonly port!: number;

  /** Port of /metrics, on the same address; 0 takes any free one, null turns it off. */
  @Setting(portOrOff, 3001)
  readonly managementPort!: number | null;

  /** URL of the database. Secret, because a URL may contain a password. */
  @Setting(databaseUrl, 'sqlite:data/petstore.sqlite', { secret: true })
  readonly databaseUrl!: string;

  /** URL of the Redis in which instances share quota counters; null counts in this process. It may contain a password. */
  @Setting<string | null>(redisUrl, null, { secret: true })
  readonly redisUrl!: string | null;

  /** Timeout of Redis for one request, in milliseconds; after it the quota is decided in this process. */
  @Setting(wholeNumber(1, 60_000), 50)
  readonly redisTimeoutMs!: number;

  /** Lowest level that is logged. */
  @Setting(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'info')
  readonly logLevel!: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

  /** The proxies whose X-Forwarded-For is trusted; null for none. */
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

  /** Keep-alive timeout of idle connections, in milliseconds; longer than that of a load balancer in front, often 60 s. */
  @Setting(wholeNumber(1_000, 600_000), 72_000)
  readonly keepAliveTimeoutMs!: number;

  /** Timeout for receiving the headers of a request, in milliseconds. */
  @Setting(wholeNumber(1_000, 600_000), 15_000)
  readonly headersTimeoutMs!: number;

  /** Timeout for receiving a whole request, in milliseconds. */
  @Setting(wholeNumber(1_000, 600_000), 60_000)
  readonly requestTimeoutMs!: number;

  /** Timeout for a client that reads a response slowly, in milliseconds. */
  @Setting(wholeNumber(1_000, 600_000), 60_000)
  readonly responseTimeoutMs!: number;

  /** No deprecated operation is removed before this instant (ms since the epoch), even when its own date is earlier. */
  @Setting(instant, 0)
  readonly sunsetNotBefore!: number;

  /** Timeout of a graceful shutdown for requests in flight, in milliseconds. */
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
