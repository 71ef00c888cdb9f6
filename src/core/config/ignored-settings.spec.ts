import { describe, expect, it } from 'vitest';
import './platform-settings.js';
import { ignoredSettings } from './ignored-settings.js';

describe('a name that is probably misspelled', () => {
  it.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['DATABASEURL', 'DATABASE_URL'],
    ['database_url', 'DATABASE_URL'],
    ['PROT', 'PORT'],
    ['MANAGMENT_PORT', 'MANAGEMENT_PORT'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['SHUTDOWN_TIMEOT_MS', 'SHUTDOWN_TIMEOUT_MS'],
  ])('%s is reported with the correct name, without its value', (name, meant) => {
    expect(ignoredSettings({ [name]: 'secret' })).toEqual([
      `${name} is not a setting and is ignored. Did you mean ${meant}?`,
    ]);
  });

  it('is not reported if the correct name is set as well: both are intended', () => {
    expect(ignoredSettings({ DATABASE_URI: 'of another program', DATABASE_URL: 'sqlite:a' })).toEqual([]);
    expect(ignoredSettings({ DATABASE_URI: 'sqlite:a', DATABASE_URL: ' ' })).toHaveLength(1);
  });

  it('is not reported for usual variables of an environment', () => {
    const legitimate = [
      'PATH NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS HOME HOSTNAME HOSTTYPE SHELL LANG LC_ALL TERM USER LOGNAME PWD OLDPWD SHLVL',
      'npm_config_loglevel npm_config_port npm_lifecycle_event INIT_CWD COLOR EDITOR TZ CI DEBUG HTTP_PROXY NO_PROXY POST HOSTS SORT',
      'REDIS_HOST REDIS_PORT REDIS_DB REDIS_PASSWORD DATABASE_HOST DATABASE_PORT DATABASE_USER DATABASE_NAME DATABASE_PASSWORD DB_URL',
      'PGHOST PGPORT POSTGRES_URL PETSTORE_PORT PETSTORE_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_PORT LOG_FORMAT LOG_FILE',
      'AWS_REGION OTEL_SERVICE_NAME SENTRY_DSN MAIL_URL SMTP_PORT PUBLIC_URL BASE_URL STRIPE_KEY WEB_PORT ADOPTIONS_FEE NODE_TLS_REJECT_UNAUTHORIZED',
    ].flatMap((names) => names.split(' '));
    expect(ignoredSettings(Object.fromEntries(legitimate.map((name) => [name, 'x'])))).toEqual([]);
  });

  it('of an earlier version is reported with its replacement, even if its value is not shown', () => {
    expect(ignoredSettings({ WEB_CONCURRENCY: '4' })).toEqual([
      expect.stringMatching(/^WEB_CONCURRENCY no longer exists: .*docs\/scale\.md/),
    ]);
    expect(ignoredSettings({ WEB_CONCURRENCY: ' ' })).toEqual([]);
  });

  it('is no setting itself', () => {
    expect(ignoredSettings({ PORT: '0', HOST: '::1', DATABASE_CA: 'ca.crt' })).toEqual([]);
  });
});
