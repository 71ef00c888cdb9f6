import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { ROOT, ServiceProcess, emptyFolder } from '../support/service-process.js';

/** Starts the service; `loaded` tells which modules it has loaded so far. */
async function start() {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  const list = join(path, 'loaded-modules');
  const preload = pathToFileURL(join(ROOT, 'test/support/loaded-modules.mjs')).href;
  const service = await ServiceProcess.start(path, {
    NODE_OPTIONS: `--import ${preload}`,
    LOADED_MODULES: list,
  });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  const loaded = () => readFileSync(list, 'utf8').trim().split('\n');
  return { service, loaded };
}

it('the first probe loads no module: an orchestrator would wait for it, or take the service for one that is not ready', async () => {
  const { service, loaded } = await start();
  const before = loaded();
  const response = await fetch(`${service.url}/health/ready`);
  expect([response.status, await response.json()]).toMatchObject([200, { status: 'ok' }]);
  expect(loaded().slice(before.length)).toEqual([]);
  // What is written where it is first needed would be seen.
  expect((await fetch(`${service.url}/docs/openapi.yaml`)).status).toBe(200);
  expect(loaded().slice(before.length).join('\n')).toContain('node_modules/yaml/');
});
