import { copyFile, link, mkdir, readFile, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './packed-client.js';
import { ROOT, emptyFolder } from './service-process.js';

/** The relevant parts of package-lock.json. */
interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly link?: boolean }>>;
}

/**
 * A folder in which npm has installed the packed service with the production dependencies of this checkout, without a registry: npm keeps
 * the existing packages that are needed and removes the rest. Nothing in the checkout can be resolved from this folder.
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
  // Newer versions of file-type require a newer Node.js.
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
 * Copies a folder with hard links, so the files must not be modified. `leftOut` names an entry to omit. Packages for other platforms are
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
    // The folder may be on another disk.
    else await link(source, copy).catch(() => copyFile(source, copy));
  }
}
