import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { clientWithKey } from './petstore-here.js';
import {
  emptyFolder,
  folderOfTest,
  ROOT,
  serviceOfTest,
  ServiceProcess,
  SERVICE,
} from './service-process.js';

/** The store that each folder starts with, made once. */
let first: Promise<{ readonly key: string; readonly file: Buffer }> | undefined;
async function firstStore() {
  const { path, remove } = await emptyFolder();
  const { key } = await clientWithKey(path);
  const file = await readFile(join(path, 'data/petstore.sqlite'));
  await remove();
  return { key, file };
}

/** A folder with its own store, in which the service and the command line run as an operator runs them. */
export class BackupFolder {
  private constructor(
    readonly path: string,
    /** A key without a limit that is met. */
    readonly key: string,
  ) {}

  /** One with a client and its key, which is removed at the end of the test. */
  static async make(environment: NodeJS.ProcessEnv = {}): Promise<BackupFolder> {
    const path = await folderOfTest();
    if (environment.DATABASE_URL !== undefined)
      return new BackupFolder(path, (await clientWithKey(path, environment)).key);
    const { key, file } = await (first ??= firstStore());
    const folder = new BackupFolder(path, key);
    await mkdir(join(path, 'data'), { mode: 0o700 });
    await writeFile(folder.database, file, { mode: 0o600 });
    return folder;
  }

  /** The database of the service. */
  get database(): string {
    return join(this.path, 'data/petstore.sqlite');
  }

  /** Starts the service, which is stopped at the end of the test. */
  start(environment: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
    return serviceOfTest(this.path, environment);
  }

  /** Makes an animal; returns its id once it is acknowledged. */
  async add(service: ServiceProcess, name: string): Promise<number> {
    const json = { name, categoryId: 1 };
    const response = await service.request('POST', '/v1/pets', { key: this.key, json });
    if (response.status !== 201) throw new Error(response.text);
    return response.body.id as number;
  }

  /** The status and the name with which an animal is returned. */
  async find(service: ServiceProcess, id: number): Promise<readonly [number, string | undefined]> {
    const { status, body } = await service.request('GET', `/v1/pets/${id}`, { key: this.key });
    return [status, (body as { name?: string }).name];
  }

  /** Runs lines of a shell in it; `npx petstore` is the command line of this checkout. `output` is standard output, then the errors. */
  async shell(
    lines: string,
    environment: NodeJS.ProcessEnv = {},
  ): Promise<{ code: number | null; output: string }> {
    const npx = `npx() { shift; "${process.execPath}" "${join(SERVICE, 'bin/petstore.js')}" "$@"; }`;
    const child = spawn('sh', ['-ec', `${npx}\n${lines}`], {
      cwd: this.path,
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const code = child.exitCode ?? ((await once(child, 'exit')) as [number | null])[0];
    return { code, output: `${stdout}${stderr}` };
  }
}

/** The lines of a shell that a page of docs/operations/ has under a name, such as `backup.md` under `drill`. */
export async function drillLines(file: string, name: string): Promise<string[]> {
  const page = await readFile(join(ROOT, 'docs/operations', file), 'utf8');
  const [, lines] = new RegExp(`\`\`\`sh ${name}\\n([^]*?)\`\`\``).exec(page) ?? [];
  if (lines === undefined) throw new Error(`docs/operations/${file} has no "sh ${name}".`);
  return lines.trim().split('\n');
}
