import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { exists } from './generated-files.js';

/** The script behind `npm run docs:generate`. */
const SCRIPT = join('scripts', 'generate-docs.mjs');

/** Whether the generated docs of a project are up to date, and if not, why. */
export interface RegeneratedDocs {
  readonly areGenerated: boolean;
  /** What the script said when it failed; empty where there is none. */
  readonly why: string;
}

/** Builds a project and generates its docs anew, as `npm run docs:generate` does; takes some seconds. Never throws. */
export async function regenerateDocs(project: string): Promise<RegeneratedDocs> {
  if (!(await exists(join(project, SCRIPT)))) return { areGenerated: false, why: '' };
  const child = spawn(process.execPath, [SCRIPT], { cwd: project, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await once(child, 'close').then(
    ([ended]) => ended as number | null,
    (error: unknown) => {
      said += String(error);
      return null;
    },
  );
  return code === 0 ? { areGenerated: true, why: '' } : { areGenerated: false, why: said.trim() };
}
