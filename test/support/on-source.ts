import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';
import { fileOfService } from '../../scripts/bundle.mjs';

type Plugin = Extract<NonNullable<ViteUserConfig['plugins']>[number], { name: string }>;

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Resolves `petstore-service` to the files in src for test suites and packages, because dist/src would load the service a second time.
 * Suites of the platform use other modules than the checkout (project-modules.ts), and packages use the catalogue of the test suites.
 */
export function onSource(): Plugin {
  return {
    name: 'petstore:modules-of-suites',
    enforce: 'pre',
    resolveId(id, importer = '') {
      if (id === '#project-modules') return join(ROOT, 'test/support/project-modules.ts');
      if (id === 'petstore-service/pets' && importer.startsWith(join(ROOT, 'examples/')))
        return join(ROOT, 'test/support/pets/pets.public.ts');
      const file = fileOfService(id);
      return file === undefined ? null : join(ROOT, file.replace(/\.js$/, '.ts'));
    },
  };
}
