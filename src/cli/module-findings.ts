import type { Database } from '../database/database.js';
import { contractionsOf, schemaStatus } from '../database/schema.js';
import { DeclarationError } from '../core/declaration-faults.js';
import { checkDeclaredMigrations, checkSchema } from '../http/startup-checks/entity-checks.js';
import { type Finding, messageOf, well, wrong } from './finding.js';

/** Whether all modules can be imported, and what stops it. */
export async function examineDeclarations(
  loadModules: () => Promise<void>,
): Promise<{ areImported: boolean; findings: Finding[] }> {
  try {
    await loadModules();
  } catch (error) {
    if (!(error instanceof DeclarationError)) throw error;
    return { areImported: false, findings: error.faults.map((fault) => wrong('declarations', fault)) };
  }
  return { areImported: true, findings: [well('declarations', 'every module can be imported')] };
}

/** Which migrations a database has run. */
export async function examineMigrations(dataSource: Database): Promise<Finding> {
  try {
    const status = await schemaStatus(dataSource);
    const { applied, pending, expansions } = status;
    const newer = contractionsOf(status);
    if (newer.length > 0)
      return wrong('migrations', `of a newer version: ${newer.join(', ')}. Run that version.`);
    if (pending.length > 0) return well('migrations', `${pending.length} pending; the next start runs them`);
    const more =
      expansions.length > 0 ? `, and ${expansions.length} of a newer version, which only expand` : '';
    return well('migrations', `all ${applied.length} ran${more}`);
  } catch (error) {
    return wrong('migrations', messageOf(error));
  }
}

/**
 * Whether the migrations make what the entities declare, in a database of its own in memory; and whether the database, if it is
 * there and every migration ran, still has it.
 */
export async function examineEntities(dataSource?: Database): Promise<Finding> {
  try {
    const faults: string[] = [];
    await checkDeclaredMigrations({ faults, warnings: [] });
    if (faults.length === 0 && dataSource && (await isMigrated(dataSource)))
      await checkSchema(dataSource, { faults, warnings: [] });
    const [fault] = faults;
    return fault === undefined
      ? well('entities', 'the migrations make what they declare')
      : wrong('entities', fault);
  } catch (error) {
    return wrong('entities', messageOf(error));
  }
}

async function isMigrated(dataSource: Database): Promise<boolean> {
  const { pending, unknown } = await schemaStatus(dataSource);
  return pending.length === 0 && unknown.length === 0;
}
