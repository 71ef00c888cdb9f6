import { cp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../support/packed-client.js';
import { packedService } from '../support/packed-service.js';
import { ROOT, serviceOfTest } from '../support/service-process.js';

/** What a project installs for its tests, beside the service. What imports Nest is copied: it must find that of the project. */
const LINKED = ['@types/node', 'openapi-response-validator', 'vitest'];
const COPIED = ['@nestjs/testing'];

/** As guides/testing.md has Nest's own way. */
const AS_NEST_TEACHES = `
  import { Test } from '@nestjs/testing';
  import { AppModule as PetStore, setupApp } from 'petstore-service/app';
  import { issueKey } from 'petstore-service/testing';
  import { AppModule } from '../app.module.js';
  import { ToysService } from './toys.service.js';
  import { expect, it } from 'vitest';

  it('is set up on the application that the testing module makes', async () => {
    const testing = await Test.createTestingModule({ imports: [PetStore, AppModule] })
      .overrideProvider(ToysService)
      .useValue({ list: () => ({ entries: [], next: null }), get: () => ({ id: 7n, name: 'Ball', petId: 1n }) })
      .compile();
    const app = setupApp(testing.createNestApplication());
    await app.listen(0, '127.0.0.1');
    const { key } = await issueKey(app);
    const answer = await fetch(await app.getUrl() + '/v1/toys/7', { headers: { authorization: 'Bearer ' + key } });
    expect([answer.status, await answer.json()]).toEqual([200, { id: 7, name: 'Ball', petId: 1 }]);
    await app.close();
  });`;

let project: string;
let remove: () => Promise<void>;

/** The command as npm has linked it, in the project. */
const petstore = (...args: string[]) =>
  run(project, join(project, '../node_modules/.bin/petstore'), args).then(stripVTControlCharacters);
const build = () => run(project, process.execPath, [join(ROOT, 'node_modules/typescript-7/bin/tsc')]);

beforeAll(async () => {
  const packed = await packedService();
  ({ remove } = packed);
  project = join(packed.folder, 'my-api');
  await run(packed.folder, join(packed.folder, 'node_modules/.bin/petstore'), ['new', 'my-api']);
  const modules = join(packed.folder, 'node_modules');
  for (const name of LINKED) {
    await rm(join(modules, name), { recursive: true, force: true });
    await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  }
  for (const name of COPIED)
    await cp(join(ROOT, 'node_modules', name), join(modules, name), { recursive: true });
});
afterAll(() => remove());

describe('a project that has the service as a dependency', () => {
  it('is made once, in a folder whose name is that of a package', async () => {
    const manifest = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as object;
    expect(manifest).toMatchObject({
      name: 'my-api',
      dependencies: { 'petstore-service': 'file:petstore-service-1.0.0.tgz' },
    });
    await expect(petstore('new', '.')).rejects.toThrow(/my-api exists already/);
    await expect(petstore('new', 'My API')).rejects.toThrow(/in lower case with hyphens/);
  });

  it('has to be built before a command', async () => {
    await expect(petstore('db', 'status')).rejects.toThrow(
      /There is no .*app\.module\.js.*build the project/,
    );
    await build();
    expect(await petstore('db', 'migrate')).toMatch(/Pets\d+/);
  });

  it('generates a feature, whose suite passes', async () => {
    const fields = ['--field', 'name:text:100', '--field', 'petId:reference:pets'];
    expect(await petstore('generate', 'feature', 'toys', ...fields)).toMatch(/Next: npm test, npm start\./);
    await writeFile(join(project, 'src/toys/as-nest-teaches.spec.ts'), AS_NEST_TEACHES);
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const shown = stripVTControlCharacters(await run(project, process.execPath, [vitest, 'run']));
    expect(shown).toMatch(/Test Files {2}2 passed/);
    await build();
    await expect(petstore('generate', 'feature', 'toys', ...fields)).rejects.toThrow(
      /src.toys exists already/,
    );
  });

  it('migrates, checks and serves the feature', async () => {
    // The suite has left the database of the project as it was.
    expect(await petstore('db', 'migrate')).toMatch(/Toys\d+/);
    expect(await petstore('doctor')).toMatch(/entities.*the migrations create what they declare/);
    const service = await serviceOfTest(project, {}, join(project, 'dist/main.js'));
    const headers = { authorization: `Bearer ${service.demoKey}` };
    const toys = await fetch(`${service.url}/v1/toys?limit=1`, { headers });
    expect([toys.status, await toys.json()]).toMatchObject([200, [{ id: 1, petId: 1 }]]);
    expect(await service.stop()).toMatchObject({ code: 0, stdout: expect.stringContaining('Stopped') });
  });

  it('names what is wrong with its modules at the start', async () => {
    const built = join(project, 'dist/app.module.js');
    await rename(built, `${built}.kept`);
    await writeFile(built, 'export const nothing = 1;');
    const start = () => run(project, process.execPath, [join(project, 'dist/main.js')]);
    await expect(start()).rejects.toThrow(/app\.module\.js.*exports no module/);
    await writeFile(built, 'throw new Error("not now");');
    await expect(start()).rejects.toThrow(/app\.module\.js:1: Error: not now/);
    const other = `import { AppModule } from './app.module.js';\nexport const imports = [AppModule];`;
    await writeFile(join(project, 'dist/other.js'), other);
    await writeFile(built, `import './other.js';\nexport class AppModule {}`);
    await expect(start()).rejects.toThrow(/other\.js:2 uses AppModule, whose file imports this one in turn/);
  });
});
