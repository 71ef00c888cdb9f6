import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, vi } from 'vitest';

/** Suites that run with the modules of the checkout: suites of its features, of the files generated from them, and of its first start. */
const OF_THE_CHECKOUT = /^(?:src|test\/api\/(?:checkout|pets)|test\/processes\/smoke)\//;

// A worker imports packages once for all its suites. The service is imported again for each suite, because modules register declarations
// when they are imported.
vi.resetModules();

const root = fileURLToPath(new URL('../..', import.meta.url));
const suite = relative(root, expect.getState().testPath ?? root).replaceAll('\\', '/');
const modules = OF_THE_CHECKOUT.test(suite) ? 'checkout' : 'platform';
process.env['PETSTORE_TEST_MODULES'] = modules;
const templates = JSON.parse(process.env['PETSTORE_TEST_POSTGRES_TEMPLATES'] ?? '{}') as Record<
  string,
  string
>;
if (modules in templates) process.env['PETSTORE_TEST_POSTGRES_TEMPLATE'] = templates[modules];

// As the setup file of a project and the command line do (see project-modules.ts).
if (modules === 'platform') {
  const { TestService } = await import('../kit/test-service.js');
  const { tablesBelow } = await import('../../src/database/tables.module.js');
  const { AppModule } = await import('../../src/root.module.js');
  const { PetsModule } = await import('./pets/pets.module.js');
  TestService.modules = [PetsModule];
  tablesBelow(AppModule, PetsModule);
}

// Restores everything that a test has replaced, even if the test failed, so that suites need not do so. Spies are restored first:
// otherwise, a spy on a fake timer would put the fake back after the real timers were restored, and all later tests of the worker would
// wait for it.
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});
