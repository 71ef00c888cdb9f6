import {
  type DataSource,
  Migration,
  MigrationExecutor,
  type MigrationInterface,
  type QueryRunner,
} from 'typeorm';

interface Migrated extends DataSource {
  readonly transactions: { isInside(): boolean };
  createMigrationRunner(isAlone: boolean): QueryRunner;
}

/**
 * Runs the pending migrations. Consecutive ones share a transaction; on PostgreSQL, one with `transaction = false` runs separately, outside
 * of any transaction. If the caller has a transaction, all run in it.
 */
export async function runInGroups(database: Migrated, fake: boolean): Promise<Migration[]> {
  const isAlone = runsAlone(database);
  const groups: Migration[][] = [];
  for (const migration of await new MigrationExecutor(database).getPendingMigrations()) {
    const last = groups.at(-1);
    if (!last || isAlone(last[0]?.instance) || isAlone(migration.instance)) groups.push([migration]);
    else last.push(migration);
  }
  const ran: Migration[] = [];
  for (const group of groups)
    ran.push(
      ...(await execute(database, group, { isAlone: isAlone(group[0]?.instance), fake }, (executor) =>
        executor.executePendingMigrations(),
      )),
    );
  return ran;
}

/** Reverts the last migration, outside of a transaction if it ran that way. */
export async function revertLast(database: Migrated, fake: boolean): Promise<void> {
  const executor = new MigrationExecutor(database);
  const [last] = await executor.getExecutedMigrations();
  const all = await executor.getAllMigrations();
  const isAlone = runsAlone(database)(all.find(({ name }) => name === last?.name)?.instance);
  await execute(database, all, { isAlone, fake }, (one) => one.undoLastMigration());
}

/** SQLite has a single writer, so running outside of a transaction has no benefit. */
function runsAlone(database: Migrated): (migration: MigrationInterface | undefined) => boolean {
  const isPossible = database.options.type !== 'sqlite' && !database.transactions.isInside();
  return (migration) => isPossible && migration?.transaction === false;
}

async function execute<T>(
  database: Migrated,
  group: readonly Migration[],
  { isAlone, fake }: { readonly isAlone: boolean; readonly fake: boolean },
  run: (executor: MigrationExecutor) => Promise<T>,
): Promise<T> {
  const runner = database.createMigrationRunner(isAlone);
  const executor = new GroupExecutor(database, runner, group);
  executor.transaction = isAlone ? 'none' : 'all';
  executor.fake = fake;
  try {
    return await run(executor);
  } finally {
    await runner.release();
  }
}

/** TypeORM's executor for some of the migrations. TypeORM refuses migrations that set a transaction mode if all run in one transaction. */
class GroupExecutor extends MigrationExecutor {
  constructor(
    database: Migrated,
    runner: QueryRunner,
    private readonly group: readonly Migration[],
  ) {
    super(database, runner);
  }

  protected override getMigrations(): Migration[] {
    return this.group.map(({ id, timestamp, name, instance }) => {
      const withoutMode = instance && {
        up: (runner: QueryRunner) => instance.up(runner) as Promise<unknown>,
        down: (runner: QueryRunner) => instance.down(runner) as Promise<unknown>,
      };
      return new Migration(id, timestamp, name, withoutMode);
    });
  }
}
