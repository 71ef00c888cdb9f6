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

/** The initial database of every folder, created once. */
let first: Promise<{ readonly key: string; readonly file: Buffer }> | undefined;
async function firstStore() {
  const { path, remove } = await emptyFolder();
  const { key } = await clientWithKey(path);
  const file = await readFile(join(path, 'data/petstore.sqlite'));
  await remove();
  return { key, file };
}

/** A folder with a separate database, in which the service and the command line run as an operator runs them. */
export class BackupFolder {
  private constructor(
    readonly path: string,
    /** A key whose limit is never reached. */
    readonly key: string,
  ) {}

  /** Creates a folder with one client and its key. It is removed at the end of the test. */
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

  /** Starts the service. It is stopped at the end of the test. */
  start(environment: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
    return serviceOfTest(this.path, environment);
  }

  /** Adds an animal. Returns its id once the write is acknowledged. */
  async add(service: ServiceProcess, name: string): Promise<number> {
    const json = { name, categoryId: 1 };
    const response = await service.request('POST', '/v1/pets', { key: this.key, json });
    if (response.status !== 201) throw new Error(response.text);
    return response.body.id as number;
  }

  /** The response status and the name of an animal. */
  async find(service: ServiceProcess, id: number): Promise<readonly [number, string | undefined]> {
    const { status, body } = await service.request('GET', `/v1/pets/${id}`, { key: this.key });
    return [status, (body as { name?: string }).name];
  }

  /**
   * Runs shell commands in the folder; `npx petstore` is the command line of this checkout. `output` contains standard output, followed by
   * standard error.
   */
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

/** The shell commands under a heading of a page in docs/operations/, such as `drill` in `backup.md`. */
export async function drillLines(file: string, name: string): Promise<string[]> {
  const page = await readFile(join(ROOT, 'docs/operations', file), 'utf8');
  const [, lines] = new RegExp(`\`\`\`sh ${name}\\n([^]*?)\`\`\``).exec(page) ?? [];
  if (lines === undefined) throw new Error(`docs/operations/${file} has no "sh ${name}".`);
  return lines.trim().split('\n');
}
