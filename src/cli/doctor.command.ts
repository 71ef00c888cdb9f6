import { stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readDatabaseUrl, shownDatabaseUrl } from '../config/database-url.js';
import { SettingsError } from '../config/define-settings.js';
import { type Settings, loadSettings } from '../config/settings.js';
import { unfinishedCopy } from '../database/copy/unfinished-copy.js';
import { openDataSource } from '../database/data-source.js';
import type { Database } from '../database/database.js';
import { ProcessMarks } from '../database/sqlite/process-marks.js';
import { fileOf } from '../database/sqlite/sqlite-data-source.js';
import { LEAST_FREE_BYTES, freeBytesBeside } from '../database/sqlite/troubles/sqlite-errors.js';
import { checkCreatable, checkWrites } from '../database/sqlite/troubles/usable-file.js';
import { command } from './command.js';
import { type Finding, messageOf, well, wrong } from './finding.js';
import { examineClock, examineNames, examineNode, examinePorts, examineRights } from './machine-findings.js';
import { examineDeclarations, examineEntities, examineMigrations } from './module-findings.js';
import { tableOf } from './table.js';

const MEBIBYTE = 1_048_576;
/** Below so much free space, in bytes, more should be made: the write-ahead log alone may need it. */
const LITTLE_FREE_BYTES = 64 * MEBIBYTE;
/** Network file systems by their Linux magic number: SQLite's shared memory does not work on them. */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB2',
  0x00c36400: 'Ceph',
};

/** `petstore doctor`: whether the service can work here. */
export const DOCTOR_COMMAND = command({
  name: 'doctor',
  description: 'look whether the service can work here; changes nothing, and may run beside it',
  examples: ['doctor', 'doctor --json'],
  runAlone: async ({ loadModules }) => {
    const { areImported, findings: declarations } = await examineDeclarations(loadModules);
    const findings = [examineNode(), ...declarations, ...(await examine(areImported))];
    return { isWell: findings.every(({ state }) => state !== 'wrong'), findings };
  },
  text: ({ findings }) =>
    tableOf([
      ['CHECK', 'STATE', 'FOUND'],
      ...findings.map(({ check, state, found }) => [check, state, found]),
    ]),
  refusal: ({ isWell, findings }) => {
    const failed = new Set(findings.filter(({ state }) => state === 'wrong').map(({ check }) => check));
    return isWell ? undefined : `Something is wrong: ${[...failed].join(', ')}.`;
  },
});

/** Checks everything that the service needs; creates no file. */
async function examine(areImported: boolean): Promise<Finding[]> {
  let settings: Settings;
  try {
    settings = loadSettings();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const misspelt = examineNames().filter(({ state }) => state === 'wrong');
    // Nothing else can be looked at.
    return [...error.faults.map((fault) => wrong('settings', fault)), ...misspelt];
  }
  const database = await examineDatabase(settings, areImported);
  return [...examineNames(), ...(await examinePorts(settings)), ...database, await examineRedis(settings)];
}

/** Without all modules, what they bring to the database is not known: then neither migrations nor entities are looked at. */
async function examineDatabase(settings: Settings, areImported: boolean): Promise<Finding[]> {
  const address = readDatabaseUrl(settings.databaseUrl);
  const path = address?.kind === 'sqlite' ? address.file : ':memory:';
  let dataSource: Database;
  try {
    if (path !== ':memory:' && (await isMissing(path))) {
      const folder = await checkCreatable(path);
      const found = well('database', `${path} is not there yet; the first start makes it`);
      const entities = areImported ? [await examineEntities()] : [];
      const clock = await examineClock(undefined, undefined);
      return [found, ...entities, await examineDisk(join(folder, basename(path))), clock];
    }
    dataSource = await openDataSource(settings, { journal: 'as it is' });
  } catch (error) {
    return [wrong('database', messageOf(error)), await examineClock(undefined, undefined)];
  }
  try {
    const ofModules = areImported ? [examineMigrations(dataSource), examineEntities(dataSource)] : [];
    if (address?.kind === 'postgres')
      return [
        await examineServer(dataSource, settings),
        ...(await Promise.all([...ofModules, examineClock(dataSource, undefined)])),
      ];
    const file = fileOf(dataSource);
    const database = await examineWrites(file);
    const ofFile =
      file === undefined ? [] : [examineRights(file), examineDisk(file), examineProcesses(file, settings)];
    const found = await Promise.all([
      examineIntegrity(dataSource),
      ...ofModules,
      ...ofFile,
      examineClock(dataSource, file),
    ]);
    return [database, ...found];
  } finally {
    await dataSource.destroy();
  }
}

/** Whether PostgreSQL takes writes, and how many more connections than this process may need. */
async function examineServer(database: Database, { databaseUrl, databasePool }: Settings): Promise<Finding> {
  const [row] = await database.query<{ version: string; reads: boolean; mayMake: boolean; free: string }[]>(
    `SELECT current_setting('server_version') AS version,
       pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS reads,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayMake",
       current_setting('max_connections')::int - (SELECT count(*) FROM pg_stat_activity) AS free`,
  );
  const name = `${shownDatabaseUrl(databaseUrl)} (PostgreSQL ${row?.version})`;
  if (row?.reads === true)
    return wrong('database', `${name} is read-only. Name the server that writes with DATABASE_URL.`);
  if (row?.mayMake !== true)
    return wrong(
      'database',
      `${name}: its user may not make tables, which migrations do. ALTER DATABASE <name> OWNER TO <user>.`,
    );
  const unfinished = await unfinishedCopy(database);
  if (unfinished !== undefined) return wrong('database', `${name}: ${unfinished}`);
  const free = Number(row?.free);
  if (free < databasePool)
    return wrong(
      'database',
      `${name} has ${free} connections free, and DATABASE_POOL is ${databasePool}. Raise max_connections, or lower it.`,
    );
  return well('database', `${name} takes writes, and has ${free} connections free`);
}

async function examineWrites(file: string | undefined): Promise<Finding> {
  try {
    if (file !== undefined) await checkWrites(file);
    return well('database', `${file ?? 'a database in memory'} opens, and takes writes`);
  } catch (error) {
    return wrong('database', messageOf(error));
  }
}

/** Whether the first start will create the database: the file is absent or empty. */
async function isMissing(path: string): Promise<boolean> {
  try {
    const found = await stat(path);
    return found.isFile() && found.size === 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
}

async function examineIntegrity(dataSource: Database): Promise<Finding> {
  try {
    const rows = await dataSource.query<{ quick_check: string }[]>('PRAGMA quick_check(3)');
    const faults = rows.map((row) => row.quick_check).filter((fault) => fault !== 'ok');
    if (faults.length === 0) return well('integrity', 'every page is sound');
    return wrong('integrity', `damaged: ${faults.join('; ')}. Stop the service and restore a backup.`);
  } catch (error) {
    return wrong('integrity', messageOf(error));
  }
}

async function examineDisk(file: string): Promise<Finding> {
  const { type } = await statfs(dirname(file));
  const network = NETWORK_FILE_SYSTEMS[type];
  if (network !== undefined)
    return wrong('disk', `${network} is no file system for SQLite. Move ${file} to a local disk.`);
  const free = await freeBytesBeside(file);
  const shown = `${(free / MEBIBYTE).toFixed(free < MEBIBYTE ? 1 : 0)} MiB free`;
  if (free < LEAST_FREE_BYTES) return wrong('disk', `the disk is full: ${shown}. Make room for ${file}.`);
  return well('disk', free < LITTLE_FREE_BYTES ? `only ${shown}: make room for ${file} in time` : shown);
}

async function examineProcesses(file: string, { redisUrl }: Settings): Promise<Finding> {
  const serving = await (await ProcessMarks.of(file)).others('left');
  const found = serving === 1 ? '1 process serves it' : `${serving} processes serve it`;
  if (serving < 2 || redisUrl !== null) return well('processes', found);
  return wrong(
    'processes',
    `${found}, and without Redis each counts quotas for itself. Set REDIS_URL in all, or run one.`,
  );
}

async function examineRedis({ redisUrl, redisCa }: Settings): Promise<Finding> {
  if (redisUrl === null)
    return { check: 'redis', state: 'skipped', found: 'REDIS_URL is not set: one process counts alone' };
  try {
    const { checkRedis } = await import('../throttling/redis/check-redis.js');
    await checkRedis({ url: redisUrl, ca: redisCa });
    return well('redis', 'it takes counts');
  } catch (error) {
    return wrong(
      'redis',
      `it takes no counts: ${messageOf(error).replace(/\.$/, '')}. Look at REDIS_URL and at the server.`,
    );
  }
}
