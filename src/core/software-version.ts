import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version of the software, of the package.json that the source or its bundle belongs to. */
export function softwareVersion(): string {
  return (JSON.parse(readFileSync(join(softwareFolder(), 'package.json'), 'utf8')) as { version: string })
    .version;
}

/** The folder that the software was installed in: the nearest above this file that has a package.json. */
export function softwareFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}
