import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleEnvironment } from '../../src/core/config/define-settings.js';
import { Settings } from '../../src/core/config/settings.js';
import { checkRedis } from '../../src/throttling/redis/check-redis.js';
import { makeCertificates } from '../support/certificates.js';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest, serviceOfTest } from '../support/service-process.js';

/** Password of a user, with every character that means something in a URL. */
const PASSWORD = 'a@b:c/d?e#f%g&+';
const ENCODED = encodeURIComponent(PASSWORD);

describeWith('redis-server', 'the way to a Redis with TLS and a password', () => {
  let redis: RedisServer;
  let tlsPort: number;
  let certificates: string;

  beforeAll(async () => {
    [tlsPort, certificates] = await Promise.all([freePort(), makeCertificates()]);
    const file = (name: string) => join(certificates, name);
    // Words without a space in them: none has to be quoted.
    const options =
      `--tls-port ${tlsPort} --tls-auth-clients no --tls-ca-cert-file ${file('ca.crt')} ` +
      `--tls-cert-file ${file('server.crt')} --tls-key-file ${file('server.key')} --user shop on >${PASSWORD} ~* &* +@all`;
    redis = await RedisServer.start(...options.split(' '));
  });
  afterAll(async () => {
    await redis.remove();
    await rm(certificates, { recursive: true, force: true });
  });

  const place = (url: string, ca?: string) => ({ url, ca: ca === undefined ? null : join(certificates, ca) });
  const started = async (environment: NodeJS.ProcessEnv) => serviceOfTest(await folderOfTest(), environment);

  it('is found by rediss:// with REDIS_CA, a password of any characters, and a database', async () => {
    const { output } = await started({
      REDIS_URL: `rediss://shop:${ENCODED}@localhost:${tlsPort}/3`,
      REDIS_CA: join(certificates, 'ca.crt'),
      REDIS_TIMEOUT_MS: '1000',
    });
    expect(output).toContain('Quotas are counted in Redis');
    expect(redis.command('CLIENT', 'LIST')).toMatch(/ db=3 .*user=shop/);
    await expect.poll(() => redis.command('-n', '3', 'ZCARD', 'petstore:quota:beats')).toBe('1');
  });

  it('that is wrong is reported at the start, in a line that says what to do and contains no password', async () => {
    const { output } = await started({ REDIS_URL: `redis://shop:wrong-secret@127.0.0.1:${redis.port}` });
    expect(output).toMatch(
      /Redis cannot be used \(WRONGPASS .*\. Check the user and the password in REDIS_URL; .*percent-encode special characters\); this instance counts quotas on its own/,
    );
    expect(output).not.toContain('wrong-secret');
  });

  it('and a password that it does not require are used without a log line of the client', async () => {
    const service = await started({
      NODE_ENV: 'production',
      REDIS_URL: `redis://:needless@127.0.0.1:${redis.port}`,
      REDIS_TIMEOUT_MS: '1000',
    });
    expect(service.output).toContain('Quotas are counted in Redis');
    expect(service.output.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
  });

  it('that cannot be read is refused with what to write, and without its password', () => {
    const settings = { ...exampleEnvironment(), REDIS_URL: 'redis://shop:wrong/secret@localhost' };
    expect(() => new Settings(settings)).toThrow(
      /^(?!.*secret)[^]*REDIS_URL: the value is not allowed; it must be .*in a user or password, write \/ as %2F/,
    );
  });

  describe('by doctor', () => {
    it.each([
      ['a name of the certificate', () => place(`rediss://localhost:${tlsPort}`, 'ca.crt')],
      ['without TLS', () => place(`redis://shop:${ENCODED}@127.0.0.1:${redis.port}/15`)],
    ])('is found right: %s', async (_, of) => {
      await expect(checkRedis(of())).resolves.toEqual({
        aheadMs: expect.any(Number),
        countsIn: expect.any(String),
        evictsKeys: undefined,
        isVolatile: true,
      });
    });

    it.each([
      ['an unknown authority', () => place(`rediss://localhost:${tlsPort}`), /Set REDIS_CA to the file/],
      [
        'a file of another certificate',
        () => place(`rediss://localhost:${tlsPort}`, 'server.crt'),
        /Set REDIS_CA to the file/,
      ],
      [
        'a file without certificates',
        () => place(`rediss://localhost:${tlsPort}`, 'server.key'),
        /^REDIS_CA: .*server\.key contains no certificate/,
      ],
      [
        'another name',
        () => place(`rediss://127.0.0.1:${tlsPort}`, 'ca.crt'),
        /127\.0\.0\.1 is not in the cert's list.*In REDIS_URL, use a host name/,
      ],
      [
        'another password',
        () => place(`redis://shop:wrong@127.0.0.1:${redis.port}`),
        /Check the user and the password/,
      ],
      [
        'a database that is not there',
        () => place(`redis://127.0.0.1:${redis.port}/99`),
        /DB index is out of range\. Check the number of the database in REDIS_URL/,
      ],
      ['a host that is none', () => place('redis://absent.invalid'), /Check the host in REDIS_URL/],
    ])('is reported as wrong: %s', async (_, of, why) => {
      await expect(checkRedis(of())).rejects.toThrow(why);
    });
  });
});
