import { fileURLToPath } from 'node:url';
import * as checkout from '../../bin/project-modules.js';

export { projectSettings } from '../../bin/project-modules.js';

/**
 * The modules that `#project-modules` provides in test suites. Suites of the platform and of packages run as a project that adds only the
 * catalogue of the test suites, without the modules in src/app.module.ts. restore.ts determines which suites have the modules of the
 * checkout.
 */
export function modulesFile(): string | undefined {
  if (process.env['PETSTORE_TEST_MODULES'] === 'checkout') return checkout.modulesFile();
  return fileURLToPath(new URL('pets/pets.module.ts', import.meta.url));
}
