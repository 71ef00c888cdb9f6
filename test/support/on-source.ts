import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';
import { fileOfService } from '../../scripts/bundle.mjs';

type Plugin = Extract<NonNullable<ViteUserConfig['plugins']>[number], { name: string }>;

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Lets `petstore-service` be the files of src, for suites and packages that import it: dist/src would be a second service. */
export function onSource(): Plugin {
  return {
    name: 'petstore:on-source',
    enforce: 'pre',
    resolveId(id) {
      const file = fileOfService(id);
      return file === undefined ? null : join(ROOT, file.replace(/\.js$/, '.ts'));
    },
  };
}
