import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ROOT, ServiceProcess, emptyFolder, petstore } from '../../support/service-process.js';

const FILE = 'data/petstore.sqlite';

async function folder(): Promise<string> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  return path;
}

async function start(path: string, environment: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(path, environment);
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return service;
}

/** What a service that was started and stopped has warned of, and what it has said of keys. */
async function adviceOf(path: string, environment: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const service = await start(path, environment);
  await service.stop();
  return service.output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: number; msg: string })
    .filter(({ level, msg }) => level >= 40 || msg.includes('key'))
    .map(({ msg }) => msg);
}

/** Runs what a line says after its last colon and space as a shell does. */
function paste(line: string, cwd: string): string {
  const command = line.slice(line.lastIndexOf(': ') + 2);
  return execFileSync('sh', ['-c', command], { cwd, env: { PATH: process.env.PATH }, encoding: 'utf8' });
}

async function answers(service: ServiceProcess, key: string): Promise<number> {
  const { status } = await fetch(`${service.url}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } });
  return status;
}

const keyIn = (text: string) => /pst_\w+/.exec(text)?.[0] ?? 'none';

describe('how a key is made', () => {
  it.each([{}, { DATABASE_URL: 'sqlite:the shop/pets.sqlite' }])(
    'is told by the first start in production, in a command that runs as it stands (%j)',
    async (environment) => {
      const path = await folder();
      const production = { NODE_ENV: 'production', ...environment };
      const [line = '', ...more] = await adviceOf(path, production);
      expect(more).toEqual([]);
      expect(line).toMatch(
        /^There is no client yet, so every request is refused with 401\. In .* this makes/,
      );
      expect(line).not.toContain('pst_');
      const key = keyIn(paste(line, path));
      expect(key).toMatch(/^pst_live_/);
      const service = await start(path, production);
      expect(await answers(service, key)).toBe(200);
      expect(service.output).not.toContain('There is no client yet');
    },
  );

  it('is told by the second start for the demo client, whose key may be lost', async () => {
    const path = await folder();
    expect(await adviceOf(path)).toEqual([]);
    const [line = '', ...more] = await adviceOf(path);
    expect(more).toEqual([]);
    expect(line).toMatch(/^The demo key was shown at the first start alone\. In .* this makes another:/);
    expect(await answers(await start(path), keyIn(paste(line, path)))).toBe(200);
  });

  it('is not told for a database in memory, which no command reaches', async () => {
    const environment = { NODE_ENV: 'production', DATABASE_URL: 'sqlite::memory:' };
    expect(await adviceOf(await folder(), environment)).toEqual([]);
  });
});

it('a misspelt setting in .env or the environment is told of with the right name, and no value', async () => {
  const path = await folder();
  await writeFile(join(path, '.env'), 'DATABSE_URL=sqlite:elsewhere.sqlite\nMY_OWN=1\n');
  expect(await adviceOf(path, { LOG_LEVELL: 'secret', NODE_OPTIONS: '' })).toEqual([
    'DATABSE_URL is no setting and is not read: did you mean DATABASE_URL?',
    'LOG_LEVELL is no setting and is not read: did you mean LOG_LEVEL?',
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
  it.each(['000', '022', '077', '277'])('are for their user alone, with the umask %s', async (umask) => {
    const path = await folder();
    const script = `umask ${umask}; exec ${process.execPath} ${join(ROOT, 'bin/petstore.js')} db migrate`;
    execFileSync('sh', ['-c', script], { cwd: path, env: { PATH: process.env.PATH } });
    expect(await modesIn(join(path, 'data'))).toEqual({ '': '700', 'petstore.sqlite': '600' });
    const service = await start(path);
    const modes = await modesIn(join(path, 'data'));
    expect(Object.keys(modes).length).toBeGreaterThanOrEqual(4);
    expect(new Set(Object.values({ ...modes, '': '600' }))).toEqual(new Set(['600']));
    await service.stop();
  });

  it('that others may read are told of with what ends it, by the start once and by doctor', async () => {
    const path = await folder();
    await petstore(path, ['db', 'migrate']);
    await chmod(join(path, FILE), 0o644);
    await chmod(join(path, 'data'), 0o777);
    const { code, stdout } = await petstore(path, ['doctor', '--json']);
    const { findings } = JSON.parse(stdout) as {
      findings: { check: string; state: string; found: string }[];
    };
    const rights = findings.find(({ check }) => check === 'rights');
    expect([code, rights?.state]).toEqual([1, 'wrong']);
    expect(rights?.found).toMatch(/^Other users of this machine may read or write the files of .*chmod 600 /);
    const lines = await adviceOf(path, { NODE_ENV: 'production' });
    expect(lines.filter((line) => line.includes('chmod'))).toHaveLength(1);
    paste(rights?.found ?? '', path);
    expect(await modesIn(join(path, 'data'))).toMatchObject({ '': '755', 'petstore.sqlite': '600' });
    expect((await petstore(path, ['doctor'])).code).toBe(0);
  });
});

describe('a database whose folder cannot be made', () => {
  it.each([
    ['a file two folders above', 'file/a/b/petstore.sqlite', /file is not a folder.*DATABASE_URL/],
    [
      '/proc, which takes no folders',
      '/proc/petstore/petstore.sqlite',
      /cannot be made \(ENOENT\).*DATABASE_URL/,
    ],
    ['/proc, which takes no files', '/proc/petstore.sqlite', /cannot be (?:made|used).*DATABASE_URL/],
  ])('for %s is told at once in one line', async (_, file, says) => {
    const path = await folder();
    await writeFile(join(path, 'file'), '');
    const told = await petstore(path, ['db', 'status'], { DATABASE_URL: `sqlite:${file}` });
    expect(told).toMatchObject({ code: 1, stdout: '' });
    expect(told.stderr).toMatch(/^.*\n$/);
    expect(told.stderr).toMatch(says);
    await expect(ServiceProcess.start(path, { DATABASE_URL: `sqlite:${file}` })).rejects.toThrow(says);
  });
});

async function failedStart(environment: NodeJS.ProcessEnv): Promise<string> {
  return ServiceProcess.start(await folder(), { NODE_ENV: 'production', ...environment }).then(
    () => 'started',
    (error: Error) => error.message,
  );
}

describe('an address that cannot be listened on', () => {
  it.each([
    ['192.0.2.1', /HOST: 192\.0\.2\.1 is no address of this machine; set HOST/],
    ['shop.invalid', /HOST: no address is known of shop\.invalid; set HOST/],
  ])('for the HOST %s is told in one sentence with what to set', async (HOST, says) => {
    const message = await failedStart({ HOST });
    expect(message).toMatch(says);
    expect(message).not.toMatch(/EADDR|ENOTFOUND|EAI_AGAIN|NestApplication/);
  });

  it.each(['PORT', 'MANAGEMENT_PORT'])(
    'for a %s in use is told so, and nothing else is',
    async (variable) => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      onTestFinished(() => void server.close());
      const { port } = server.address() as AddressInfo;
      expect(await failedStart({ [variable]: String(port) })).toBe(
        `The service ended with 1:\n\nThe service could not start: ${variable}: port ${port} is in use; set ${variable} to a free one.\n`,
      );
    },
  );
});
