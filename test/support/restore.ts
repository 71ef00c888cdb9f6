import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, vi } from 'vitest';

/**
 * Suites that have the modules of the checkout: those of its features, those of what is generated from them, and those of its first start.
 */
const OF_THE_CHECKOUT = /^(?:src|test\/api\/(?:checkout|pets)|test\/processes\/smoke)\//;

// A worker imports packages once for all its suites; ours is imported again for each, since modules declare things at import.
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

// As the setup file of a project does, and the command line (see project-modules.ts).
if (modules === 'platform') {
  const { TestService } = await import('../kit/test-service.js');
  const { tablesBelow } = await import('../../src/database/tables.module.js');
  const { AppModule } = await import('../../src/root.module.js');
  const { PetsModule } = await import('./pets/pets.module.js');
  TestService.modules = [PetsModule];
  tablesBelow(AppModule, PetsModule);
}

// Whatever a test has replaced is restored after it, also when it failed; so no suite does it itself. Spies come first: a spy on a
// fake timer would otherwise put that fake back after the real timers were restored, and every later test of the worker would wait for it.
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});
