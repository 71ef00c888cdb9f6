import { fileURLToPath } from 'node:url';
import * as checkout from '../../bin/project-modules.js';

export { projectSettings } from '../../bin/project-modules.js';

/**
 * What `#project-modules` is in suites. Those of the platform and of packages are a project that adds its catalogue to the platform, and
 * sees no module of src/app.module.ts; restore.ts says which suites have the modules of the checkout.
 */
export function modulesFile(): string | undefined {
  if (process.env['PETSTORE_TEST_MODULES'] === 'checkout') return checkout.modulesFile();
  return fileURLToPath(new URL('pets/pets.module.ts', import.meta.url));
}
