import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { softwareFolder } from '#supported-node';

/** The version in the package.json of the source or its bundle. */
export function softwareVersion(): string {
  return (JSON.parse(readFileSync(join(softwareFolder(), 'package.json'), 'utf8')) as { version: string })
    .version;
}
