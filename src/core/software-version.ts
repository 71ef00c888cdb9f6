import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { softwareFolder } from '#supported-node';

/** The version of the software, of the package.json that the source or its bundle belongs to. */
export function softwareVersion(): string {
  return (JSON.parse(readFileSync(join(softwareFolder(), 'package.json'), 'utf8')) as { version: string })
    .version;
}
