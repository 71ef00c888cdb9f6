// Which modules lie in one file of the bundle together.
import { join } from 'node:path';
import { filesOf } from './files.mjs';

/** What starts, and the service with its features. */
const STARTED = ['main.js', 'cli/main.js'];
const THE_SERVICE = ['app.setup.js', 'cli/start/start.js'];

/**
 * Joins the service's own files that are loaded only with it into one, and what of packages imports them. Each file of its own is
 * one more that Node.js resolves and reads. Other packages stay in files of their own: V8 takes memory for the largest at once. So
 * does what is also loaded without the features, such as for help, by `doctor`, or by the parent of several processes: a feature that
 * cannot be imported must not be imported with it.
 */
export function joinedService(source, found) {
  const inSource = (files) => files.map((file) => join(source, file));
  const modules = (bundled) => {
    const later = inSource(filesOf(source)).flatMap(
      (id) => bundled.getModuleInfo(id)?.dynamicallyImportedIds ?? [],
    );
    const loaded = [...new Set([...inSource(STARTED), ...later])].map((id) => [...importedBy([id], bundled)]);
    const isWithFeatures = (ids) => inSource(THE_SERVICE).some((id) => ids.includes(id));
    const elsewhere = new Set(loaded.filter((ids) => !isWithFeatures(ids)).flat());
    const needed = importedBy(inSource([...THE_SERVICE, ...found]), bundled);
    const own = [...needed].filter((id) => id.startsWith(source) && !elsewhere.has(id));
    return withImporters(own, needed, bundled);
  };
  let joined;
  const name = (id, bundled) => ((joined ??= modules(bundled)).has(id) ? 'service' : null);
  return { groups: [{ debugName: 'service', name, includeDependenciesRecursively: false }] };
}

/** These modules, and those of others that import them: a file of their own would be loaded before what it imports. */
function withImporters(ids, others, bundled) {
  const all = new Set(ids);
  for (const id of all)
    for (const importer of bundled.getModuleInfo(id)?.importers ?? [])
      if (others.has(importer)) all.add(importer);
  return all;
}

/** These modules, and all that they import as they are loaded. */
function importedBy(ids, bundled) {
  const all = new Set(ids);
  for (const id of all)
    for (const imported of bundled.getModuleInfo(id)?.importedIds ?? []) all.add(imported);
  return all;
}
