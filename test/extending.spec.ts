import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { copyProject, filesOfGuide, writeFiles } from './support/project-copy.js';
import { emptyFolder, ROOT, ServiceProcess } from './support/service-process.js';

const run = promisify(execFile);

/** A copy of the project with the files of docs/extending.md written over it. */
async function extendedProject(): Promise<string> {
  const { path: project, remove } = await emptyFolder();
  onTestFinished(remove);
  await copyProject(project);
  const files = await filesOfGuide('docs/extending.md');
  expect([...files.keys()]).toHaveLength(11);
  await writeFiles(project, files);
  return project;
}

describe('the module of docs/extending.md, as it stands there', () => {
  it('passes types, walls and its own test, builds, migrates, and serves', async () => {
    const project = await extendedProject();
    const node = (script: string, ...args: string[]) =>
      run(process.execPath, [join(ROOT, script), ...args], {
        cwd: project,
        // What this run is on is nothing to that one.
        env: { ...process.env, PETSTORE_TEST_ON: 'source' },
      });
    await node(
      'node_modules/typescript/bin/tsc',
      '-p',
      'tsconfig.json',
      '--noEmit',
      '--incremental',
      'false',
    );
    await node(
      'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
      'src',
      '--config',
      '.dependency-cruiser.cjs',
      '--output-type',
      'err',
    );
    const tests = await node(
      'node_modules/vitest/vitest.mjs',
      'run',
      'src/toys/toys.spec.ts',
      'test/refusals.spec.ts',
    );
    expect(stripVTControlCharacters(tests.stdout)).toMatch(/Tests +9 passed \(9\)/);

    const service = await ServiceProcess.start(project, {}, join(project, 'dist/bundle/main.js'));
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    const petstore = async (...args: string[]) => {
      const { stdout } = await run(process.execPath, [join(project, 'bin/petstore.js'), ...args, '--json'], {
        cwd: project,
      });
      return JSON.parse(stdout) as { id: string; key: string };
    };
    const { id } = await petstore('client', 'create', '--name', 'Toy shop', '--plan', 'pro');
    const { key } = await petstore('key', 'issue', '--client', id);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const created = await fetch(`${service.url}/v1/toys`, {
      method: 'POST',
      headers,
      body: '{"name":"Ball","priceCents":9007199254740993}',
    });
    expect([created.status, await created.text()]).toEqual([
      201,
      '{"name":"Ball","priceCents":9007199254740993,"id":1}',
    ]);
    const document = (await (await fetch(`${service.url}/docs/openapi.json`)).json()) as {
      paths: Record<string, object>;
    };
    expect(Object.keys(document.paths)).toEqual(['/pets', '/pets/{petId}', '/toys', '/toys/{toyId}']);
  });
});
