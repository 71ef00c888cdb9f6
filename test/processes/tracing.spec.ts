import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { filesOfGuide } from '../support/project-copy.js';
import { folderOfTest, ROOT, serviceOfTest } from '../support/service-process.js';

/** The environment of a process that is started with a register file of this text, in a folder with what is installed here. */
async function importing(folder: string, text: string): Promise<NodeJS.ProcessEnv> {
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const file = join(folder, 'tracing.mjs');
  await writeFile(file, text);
  return { NODE_OPTIONS: `--import ${pathToFileURL(file).href}` };
}

/** Starts the service as a process with a register file; `ask` sends a request with the key of the demo data. */
async function start(text: string) {
  const folder = await folderOfTest();
  const service = await serviceOfTest(folder, await importing(folder, text));
  const request = async (path: string, headers = {}) =>
    (await service.request('GET', path, { headers })).status;
  return { service, ask: request };
}

it('the service runs with the register file of the documentation, and loses no span at a stop', async () => {
  const text = (await filesOfGuide('docs/operations/tracing.md')).get('tracing.mjs') ?? '';
  const { service, ask: request } = await start(text);
  await request('/v1/pets/1');
  expect(service.output).toContain('Requests are traced by the registered OpenTelemetry SDK');
  const { code, stdout } = await service.stop();
  expect([code, stdout]).toEqual([0, expect.stringContaining("name: 'GET /v1/pets/{petId}'")]);
  expect(stdout).toContain("'service.name': 'petstore'");
});

/** Tells at the exit whether the process has loaded the API, which the bundle has no copy of that it could use in its place. */
const REPORTS_API = `
import { createRequire } from 'node:module';
process.on('exit', () => {
  const loaded = Object.keys(createRequire(import.meta.url).cache).some((file) => /@opentelemetry.api.build/.test(file));
  process.stdout.write(loaded ? 'API loaded' : 'API not loaded');
});`;

it.each([
  ['is not loaded without a registered SDK', '', 'API not loaded'],
  [
    'makes no spans where it is there without an SDK',
    `import { diag, DiagConsoleLogger } from '@opentelemetry/api';\ndiag.setLogger(new DiagConsoleLogger(), 0);`,
    'API loaded',
  ],
])('the API of OpenTelemetry %s', async (_, more, expected) => {
  const { service, ask: request } = await start(`${REPORTS_API}\n${more}`);
  expect(await request('/v1/pets', { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` })).toBe(200);
  const { stdout } = await service.stop();
  expect(stdout).toContain(expected);
  expect(stdout).not.toContain('traced by');
});
