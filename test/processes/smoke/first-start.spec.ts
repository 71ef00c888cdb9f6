import { execFileSync } from 'node:child_process';
import { chmod, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  folderOfTest,
  petstore,
  ROOT,
  serviceOfTest,
  ServiceProcess,
} from '../../support/service-process.js';

const FILE = 'data/petstore.sqlite';

/** What a service that was started and stopped has warned of, and what it has said of keys. */
async function adviceOf(path: string, environment: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const service = await serviceOfTest(path, environment);
  await service.stop();
  // It also warns if the machine is busy.
  return service.lines
    .filter(({ level, msg }) => (level >= 40 || msg.includes('key')) && !msg.includes('write lock'))
    .map(({ msg }) => msg);
}

/** Runs what a line says after its last colon and space as a shell does. */
function paste(line: string, cwd: string): string {
  const command = line.slice(line.lastIndexOf(': ') + 2);
  return execFileSync('sh', ['-c', command], { cwd, env: { PATH: process.env.PATH }, encoding: 'utf8' });
}

/** The status of a request with the key that a command printed. */
async function accepted(service: ServiceProcess, printed: string): Promise<number> {
  const [key = 'none'] = /pst_\w+/.exec(printed) ?? [];
  return (await service.request('GET', '/account', { key })).status;
}

it('the first start of this checkout prints a curl line that works as pasted', async () => {
  const path = await folderOfTest();
  const { output, url } = await serviceOfTest(path);
  expect(output).toContain(`${url}/docs`);
  const [, curl = ''] = /^ {2}(curl .*)$/m.exec(output) ?? [];
  const printed = execFileSync('sh', ['-c', `${curl} --silent --show-error --fail`], { encoding: 'utf8' });
  expect(JSON.parse(printed)).toBeTypeOf('object');
});

describe('how a key is made', () => {
  it('is shown by the first start in production, in a command that can be pasted', async () => {
    const path = await folderOfTest();
    const production = { NODE_ENV: 'production', DATABASE_URL: 'sqlite:the shop/pets.sqlite' };
    const [line = '', ...more] = await adviceOf(path, production);
    expect(more).toEqual([]);
    expect(line).toMatch(
      /^There is no client yet, so every request is refused with 401\. In .*, create the first administrator/,
    );
    expect(line).not.toContain('pst_');
    const printed = paste(line, path);
    expect(printed).toContain('pst_live_');
    const service = await serviceOfTest(path, production);
    expect(await accepted(service, printed)).toBe(200);
    expect(service.output).not.toMatch(/There is no client yet|curl/);
  });

  it('is shown by the second start for the demo client, whose key may be lost', async () => {
    const path = await folderOfTest();
    expect(await adviceOf(path)).toEqual([]);
    const service = await serviceOfTest(path);
    const line = /"(The demo key was shown only at the first start\. In .*, create another key: [^"]*)"/;
    const [, advised = ''] = line.exec(service.output) ?? [];
    expect(await accepted(service, paste(advised, path))).toBe(200);
  });
});

it('a setting that is misspelled or removed is reported with the correct name and no value, and nothing else is', async () => {
  const path = await folderOfTest();
  await writeFile(join(path, '.env'), 'TRUST_PROXI=secret\nMY_OWN=1\n', { mode: 0o600 });
  // No command would reach a database in memory to make a key, so it tells of none.
  const memory = { NODE_ENV: 'production', DATABASE_URL: 'sqlite::memory:' };
  const advice = await adviceOf(path, { ...memory, LOG_LEVELL: 'secret', WEB_CONCURRENCY: '4' });
  expect(advice.toSorted()).toEqual([
    'LOG_LEVELL is not a setting and is ignored. Did you mean LOG_LEVEL?',
    'TRUST_PROXI is not a setting and is ignored. Did you mean TRUST_PROXY?',
    expect.stringMatching(/^WEB_CONCURRENCY no longer exists: run one instance/),
  ]);
});

async function modesIn(path: string): Promise<Record<string, string>> {
  const names = ['', ...(await readdir(path))];
  const modes = await Promise.all(
    names.map(async (name) => [name, ((await stat(join(path, name))).mode & 0o777).toString(8)] as const),
  );
  return Object.fromEntries(modes);
}

describe('files of the database', () => {
  it.each(['000', '277'])('are for their user alone, with the umask %s', async (umask) => {
    const path = await folderOfTest();
    const script = `umask ${umask}; exec ${process.execPath} ${join(ROOT, 'bin/petstore.js')} db migrate`;
    execFileSync('sh', ['-c', script], { cwd: path, env: { PATH: process.env.PATH } });
    expect(await modesIn(join(path, 'data'))).toEqual({ '': '700', 'petstore.sqlite': '600' });
    await serviceOfTest(path);
    const modes = await modesIn(join(path, 'data'));
    expect(Object.keys(modes).length).toBeGreaterThanOrEqual(4);
    expect(new Set(Object.values({ ...modes, '': '600' }))).toEqual(new Set(['600']));
  });

  it('that others may read are reported with the remedy, by the start once and by doctor', async () => {
    const path = await folderOfTest();
    await petstore(path, ['db', 'migrate']);
    await chmod(join(path, FILE), 0o644);
    await chmod(join(path, 'data'), 0o777);
    const { code, stdout } = await petstore(path, ['doctor', '--json']);
    const { findings } = JSON.parse(stdout) as {
      findings: { check: string; state: string; found: string }[];
    };
    const permissions = findings.find(({ check }) => check === 'permissions');
    expect([code, permissions?.state]).toEqual([1, 'wrong']);
    expect(permissions?.found).toMatch(
      /^Other users of this machine can read or write the files of .*chmod 600 /,
    );
    const lines = await adviceOf(path, { NODE_ENV: 'production' });
    expect(lines.filter((line) => line.includes('chmod'))).toHaveLength(1);
    paste(permissions?.found ?? '', path);
    expect(await modesIn(join(path, 'data'))).toMatchObject({ '': '755', 'petstore.sqlite': '600' });
    expect((await petstore(path, ['doctor'])).code).toBe(0);
    await writeFile(join(path, `${FILE}-server`), '');
    await chmod(join(path, `${FILE}-server`), 0o644);
    // A user who may read it can lock it, and the service does not start.
    expect((await petstore(path, ['doctor'])).code).toBe(1);
  });
});

it.each([
  ['192.0.2.1', /HOST: 192\.0\.2\.1 is not an address of this machine; set HOST/],
  ['shop.invalid', /HOST: shop\.invalid cannot be resolved; set HOST/],
])(
  'the HOST %s, on which nothing can listen, is reported in one sentence with what to set',
  async (HOST, expected) => {
    const started = ServiceProcess.start(await folderOfTest(), { NODE_ENV: 'production', HOST });
    const message = await started.then(() => 'started', String);
    expect(message).toMatch(expected);
    expect(message).not.toMatch(/EADDR|ENOTFOUND|EAI_AGAIN|NestApplication/);
  },
);
