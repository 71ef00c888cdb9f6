import { copyFile, link, mkdir, readFile, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './packed-client.js';
import { ROOT, emptyFolder } from './service-process.js';

/** What of a package-lock.json is read here. */
interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly link?: boolean }>>;
}

/**
 * A folder in which npm has installed the packed service, with the production dependencies of this checkout and without a registry:
 * npm keeps the packages that it finds as far as a dependency asks for them, and removes the rest. Nothing of the checkout is found
 * from there.
 */
export async function packedService(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const { path: folder, remove } = await emptyFolder();
  const pack = ['pack', '--json', '--pack-destination', folder];
  const [{ filename }] = JSON.parse(await run(ROOT, 'npm', pack, { HOME: folder })) as [{ filename: string }];
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const top = Object.entries(packages).filter(
    ([path, { dev, link: isLink }]) => !dev && !isLink && /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path),
  );
  for (const path of ['node_modules/.bin', ...top.map(([name]) => name)])
    await linkFolder(join(ROOT, path), join(folder, path));
  // A newer file-type needs a newer Node.js.
  const { overrides } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    overrides: Readonly<Record<string, unknown>>;
  };
  const manifest = { overrides: { 'file-type': overrides['file-type'] } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const quiet = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  await run(folder, 'npm', ['install', ...quiet, `./${filename}`]);
  return { folder, remove };
}

/**
 * Copies a folder with hard links, so its files must not be written to. `leftOut` names an entry to omit. Packages of other platforms are
 * missing.
 */
export async function linkFolder(from: string, to: string, leftOut?: string): Promise<void> {
  const all = await readdir(from, { withFileTypes: true }).catch(() => []);
  const entries = all.filter(({ name }) => name !== leftOut);
  if (entries.length > 0) await mkdir(to, { recursive: true });
  for (const entry of entries) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkFolder(source, copy);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), copy);
    // The folder may lie on another disk.
    else await link(source, copy).catch(() => copyFile(source, copy));
  }
}
