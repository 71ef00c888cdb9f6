import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';
import { bundleForTests, fileOfService, PACKAGES_FOR_TESTS } from '../../scripts/bundle.mjs';

type Plugin = Extract<NonNullable<ViteUserConfig['plugins']>[number], { name: string }>;

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const PREFIX = '\0bundle:';
/** Where the bundle is, made once for all projects of a run. */
let bundled: Promise<string> | undefined;

/**
 * Lets whatever suites import of src, and of the packages that the bundle joins, be what the bundler has made of it. Nothing
 * of it is there twice: tests, their kit and the service see one Nest and one class of each name. It wants dist/ built.
 */
export function onBundle(): Plugin {
  return {
    name: 'petstore:on-bundle',
    enforce: 'pre',
    resolveId(id, importer) {
      const name = importer?.startsWith(ROOT) ? nameInBundle(id, importer) : undefined;
      return name === undefined ? null : PREFIX + name;
    },
    async load(id) {
      if (!id.startsWith(PREFIX)) return null;
      const file = await (bundled ??= bundleForTests());
      return facade(id.slice(PREFIX.length), pathToFileURL(file).href);
    },
  };
}

/** How the bundle for tests names what is imported; undefined for what is not in it. */
function nameInBundle(id: string, importer: string): string | undefined {
  const file = fileOfService(id);
  if (file !== undefined) return file;
  if (PACKAGES_FOR_TESTS.includes(id)) return id;
  const joined = PACKAGES_FOR_TESTS.find((name) => id.startsWith(`${name}/`));
  if (joined !== undefined)
    throw new Error(`Import ${id} from ${joined}: the bundle for tests has no part of it.`);
  if (!id.startsWith('.')) return undefined;
  const path = relative(ROOT, join(dirname(importer), id)).replaceAll('\\', '/');
  return path.startsWith('src/') ? path : undefined;
}

/** A module that exports what the bundle has by this name. */
async function facade(name: string, bundle: string): Promise<string> {
  const exported = ((await import(/* @vite-ignore */ bundle)) as Record<string, object>)[name];
  if (!exported) throw new Error(`The bundle for tests has no ${name}.`);
  const names = Object.keys(exported).filter((one) => /^[\w$]+$/.test(one) && one !== 'default');
  return [
    `import { ${JSON.stringify(name)} as all } from ${JSON.stringify(bundle)};`,
    `export const { ${names.join(', ')} } = all;`,
    'export default all.default;',
  ].join('\n');
}
