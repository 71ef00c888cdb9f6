import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SettingsError } from './define-settings.js';
import { environmentOfProcess } from './env-file.js';
import { Settings } from './settings.js';

const read = (environment: Record<string, string>) => new Settings(environment);

function errorsOf(environment: Record<string, string>): readonly string[] {
  try {
    read(environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}

describe('the settings', () => {
  it.each([
    ['PORT', '0', 'port', 0],
    ['MANAGEMENT_PORT', 'off', 'managementPort', null],
    ['HOST', '::1', 'host', '::1'],
    ['HOST', 'localhost', 'host', 'localhost'],
    ['DATABASE_URL', 'sqlite::memory:', 'databaseUrl', 'sqlite::memory:'],
    ['DATABASE_URL', 'postgres://db/pets', 'databaseUrl', 'postgres://db/pets'],
    ['DATABASE_MIGRATE', 'check', 'databaseMigrate', 'check'],
    ['TRUST_PROXY', '2', 'trustProxy', 2],
    ['TRUST_PROXY', '10.0.0.0/8, ::1', 'trustProxy', ['10.0.0.0/8', '::1']],
    ['CORS_ORIGINS', '*', 'corsOrigins', ['*']],
    [
      'CORS_ORIGINS',
      'https://a.example,http://b.example:81',
      'corsOrigins',
      ['https://a.example', 'http://b.example:81'],
    ],
    ['PUBLIC_BASE_URL', 'https://api.example/shop/v1', 'publicBaseUrl', 'https://api.example/shop/v1'],
    ['SUNSET_NOT_BEFORE', '2031-06-01T00:00:00Z', 'sunsetNotBefore', Date.UTC(2031, 5, 1)],
    ['SUNSET_NOT_BEFORE', '2031-06-01T00:00:00.500Z', 'sunsetNotBefore', Date.UTC(2031, 5, 1) + 500],
    ['REDIS_URL', 'redis://:secret@cache:6380/2', 'redisUrl', 'redis://:secret@cache:6380/2'],
    ['PORT', '', 'port', 3000],
    ['PORT', ' 81 ', 'port', 81],
  ])('%s=%s', (variable, text, property, value) => {
    expect(read({ [variable]: text })).toMatchObject({ [property]: value });
  });

  it.each([
    ['NODE_ENV', 'prod'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['MANAGEMENT_PORT', 'none'],
    ['HOST', 'http://a'],
    ['DATABASE_MIGRATE', 'yes'],
    ['DATABASE_POOL', '1'],
    ['DATABASE_URL', 'data/petstore.sqlite'],
    ['REDIS_URL', 'http://cache'],
    ['REDIS_URL', 'redis+cluster://:secret@cache/1'],
    ['LOG_LEVEL', 'INFO'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '0'],
    ['TRUST_PROXY', '0.0.0.0/0'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', 'proxy.example'],
    ['CORS_ORIGINS', 'https://a.example/'],
    ['CORS_ORIGINS', '*,https://a.example'],
    ['PUBLIC_BASE_URL', 'https://api.example/'],
    ['PUBLIC_BASE_URL', 'ftp://api.example/v1'],
    ['STAGING_BASE_URL', 'https://api.example/?/v1'],
    ['BODY_LIMIT_BYTES', '10'],
    ['SUNSET_NOT_BEFORE', '2031-06-01'],
    ['SUNSET_NOT_BEFORE', '2031-13-01T00:00:00Z'],
    ['SUNSET_NOT_BEFORE', '2031-02-30T00:00:00Z'],
    ['SHUTDOWN_TIMEOUT_MS', '1s'],
  ])('%s=%s is refused with a line that names variable, value and what is allowed', (variable, text) => {
    const errors = errorsOf({ [variable]: text });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(new RegExp(`^${variable}: .+ is not allowed; it must be .{10,}\\.$`));
    if (!['DATABASE_URL', 'REDIS_URL'].includes(variable)) expect(errors[0]).toContain(JSON.stringify(text));
  });

  it('report all errors at once', () => {
    expect(errorsOf({ PORT: 'x', LOG_LEVEL: 'y', HOST: '/' })).toHaveLength(3);
  });
});

describe('the environment of a process', () => {
  it.each(['VITEST', 'JEST_WORKER_ID', 'NODE_TEST_CONTEXT'])(
    '%s keeps tests from the database of the service',
    (name) => {
      onTestFinished(() => void vi.unstubAllEnvs());
      for (const runner of ['VITEST', 'JEST_WORKER_ID', 'NODE_TEST_CONTEXT']) vi.stubEnv(runner, undefined);
      expect(environmentOfProcess()['DATABASE_URL']).toBeUndefined();
      vi.stubEnv(name, '1');
      expect(environmentOfProcess()['DATABASE_URL']).toBe('sqlite::memory:');
      vi.stubEnv('DATABASE_URL', 'sqlite:own.sqlite');
      expect(environmentOfProcess()['DATABASE_URL']).toBe('sqlite:own.sqlite');
    },
  );
});
