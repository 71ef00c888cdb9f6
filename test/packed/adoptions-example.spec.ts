import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { copyProject, filesOfGuide, writeFiles } from '../support/project-copy.js';
import { emptyFolder, ROOT, ServiceProcess } from '../support/service-process.js';

const NAME = 'petstore-adoptions';
const PACKAGE = 'examples/adoptions';

/** A copy of this project with the package, added as its README tells; what npm installs is linked. */
let project: string;
let removeProject: () => Promise<void>;

/** Runs a script in a folder of the project; answers what it wrote to standard output. */
async function run(folder: string, script: string, ...args: string[]): Promise<string> {
  const { PATH } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], {
    cwd: join(project, folder),
    env: { PATH },
  });
  return stripVTControlCharacters(stdout);
}

// A service with a feature of that name, such as docs/extending.md writes, cannot have the package as well.
describe.skipIf(existsSync(join(ROOT, 'src/adoptions')))('the package of examples/adoptions', () => {
  beforeAll(async () => {
    ({ path: project, remove: removeProject } = await emptyFolder());
    await copyProject(project);
    const filter = (path: string) => !path.endsWith('/dist');
    await cp(join(ROOT, 'examples'), join(project, 'examples'), { recursive: true, filter });
    await run('.', 'scripts/build-if-stale.mjs', '--always');
    await run(PACKAGE, join(ROOT, 'node_modules/typescript-7/bin/tsc'), '-p', 'tsconfig.build.json');
    await symlink(join('..', PACKAGE), join(project, 'node_modules', NAME));
    const manifest = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as {
      dependencies: object;
    };
    manifest.dependencies = { ...manifest.dependencies, [NAME]: `file:${PACKAGE}` };
    await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
    await writeFiles(project, await filesOfGuide(`${PACKAGE}/README.md`));
    await run('.', 'scripts/build-if-stale.mjs', '--always');
    await run('.', 'scripts/generate-docs.mjs');
  });
  afterAll(() => removeProject());

  it('serves adoptions from the bundle', async () => {
    const { path, remove } = await emptyFolder();
    onTestFinished(remove);
    const service = await ServiceProcess.start(path, {}, join(project, 'dist/bundle/main.js'));
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    const key = /pst_test_\w{36}/.exec(service.output)?.[0] ?? '';
    const call = async (method: string, target: string, json?: object) => {
      const response = await fetch(`${service.url}/v1/${target}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'if-match': '*' },
        ...(json ? { body: JSON.stringify(json) } : {}),
      });
      return [response.status, (await response.json()) as object] as const;
    };
    const wish = { petId: 1, adopterName: 'Ada' };
    // The demo data has twelve.
    expect(await call('POST', 'adoptions', wish)).toMatchObject([201, { id: 13, state: 'requested' }]);
    expect(await call('POST', 'adoptions', wish)).toMatchObject([409, { code: 'pet_not_available' }]);
    expect(await call('PATCH', 'adoptions/13', { state: 'approved' })).toMatchObject([200, { petId: 1 }]);
    expect(await call('GET', 'pets/1')).toMatchObject([200, { status: 'sold' }]);
  });

  it('leaves the suites of the service as they are: none names what features there are', async () => {
    const suites = ['generated-files', 'jobs', 'migrations', 'new-scopes', 'refusals', 'unindexed-lists'];
    const files = suites.map((suite) => `/${suite}.spec.ts`);
    const onSqlite = ['--project=api', '--project=sqlite'];
    const report = await run('.', join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...onSqlite, ...files);
    expect(report).toMatch(new RegExp(`Test Files +${suites.length} passed \\(${suites.length}\\)`));
  });
});
