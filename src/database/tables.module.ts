import {
  type DynamicModule,
  type FactoryProvider,
  Module,
  type Type,
  type ValueProvider,
} from '@nestjs/common';
import { TypeOrmModule, getRepositoryToken } from '@nestjs/typeorm';
import { DataSource, type DataSourceOptions, type MigrationInterface } from 'typeorm';
import { declarationFault } from '../core/declaration-faults.js';

/** The tables of a module: their entities, and the migrations that make and change them. */
export interface Tables {
  readonly entities: readonly Type[];
  /** Their order here does not matter: the time in milliseconds that ends the name of each class decides. */
  readonly migrations: readonly Type<MigrationInterface>[];
}

const entities = new Set<Type>();
const migrations = new Set<Type<MigrationInterface>>();

/** Registers the tables of a module outside of src, where they are not found by their file names. */
@Module({})
export class TablesModule {
  /**
   * Provides the repositories of the entities, as TypeOrmModule.forFeature() does, and adds entities and migrations to the
   * database of the service, the command line and the TypeORM CLI. Call it where the module is put together (`imports` of
   * `@Module()`, `forRoot()`): the database is opened with what was added until then.
   */
  static forFeature(tables: Tables): DynamicModule {
    for (const entity of tables.entities) entities.add(entity);
    for (const migration of tables.migrations) migrations.add(migration);
    return TypeOrmModule.forFeature([...tables.entities]);
  }
}

/** The tables that modules have brought so far. */
export function addedTables(): Tables {
  return { entities: [...entities], migrations: [...migrations] };
}

let roots: readonly unknown[] = [];

/**
 * Names the modules below which all are: entities that these register for the DataSource of the service belong to it, and those for
 * another are left to that, wherever their files are.
 */
export function tablesBelow(...modules: readonly unknown[]): void {
  roots = modules;
}

/**
 * The entities of `TypeOrmModule.forFeature()`, wherever their files are. Throws DeclarationError for what is no entity, and for a
 * `forRoot()` whose DataSource would take the place of the service's.
 */
export function registeredEntities(): Type[] {
  const providers = registered();
  if (providers.filter(({ provide }) => provide === DataSource).length > 1)
    declarationFault(
      'TypeOrmModule.forRoot() without a name would replace the DataSource of the service. ' +
        'Give it a name, or use TypeOrmModule.forFeature() alone.',
    );
  return providers.flatMap((one) => {
    const { inject: [from] = [], provide, targetEntitySchema } = one;
    if (from !== DataSource || !('targetEntitySchema' in one)) return [];
    if (!targetEntitySchema)
      declarationFault(
        `TypeOrmModule.forFeature(): ${String(provide).replace(/Repository$/, '')} is not a class with @Entity(). ` +
          'Decorate the class; an EntitySchema is not supported.',
      );
    return [targetEntitySchema.target];
  });
}

/** Finds whether an entity or a migration is registered for a DataSource with a name, and not for that of the service. */
export function otherTables(): (found: Type) => boolean {
  const providers = registered();
  const tokens = new Set(providers.map(({ provide }) => provide));
  const names = [...tokens].flatMap((token) => /^(.+)DataSource$/.exec(String(token))?.[1] ?? []);
  const options = providers.flatMap(({ provide, useValue }) =>
    provide === OPTIONS && useValue ? [useValue] : [],
  );
  const named = options.filter(({ name = 'default' }) => name !== 'default');
  const listed = new Set(
    named.flatMap((one): unknown[] =>
      [one.entities, one.migrations].flatMap((all) => Object.values(all ?? {})),
    ),
  );
  return (found) =>
    !tokens.has(getRepositoryToken(found)) &&
    (listed.has(found) || names.some((name) => tokens.has(getRepositoryToken(found, name))));
}

/** The token of the options of `TypeOrmModule.forRoot()`, which @nestjs/typeorm does not export (test/packed/extending.spec.ts). */
const OPTIONS = 'TypeOrmModuleOptions';
/** `targetEntitySchema` is set by `forFeature()`, for what is no entity to undefined: test/api/nest-words.spec.ts notices when it is not. */
type Registered = FactoryProvider &
  ValueProvider<(DataSourceOptions & { name?: string }) | undefined> & {
    readonly targetEntitySchema?: { readonly target: Type } | undefined;
  };

function registered(): Registered[] {
  const seen = new Set<unknown>();
  const found = roots.flatMap((root) => [...dynamicModules(root, seen)]);
  return found.flatMap((one) => (one.providers ?? []) as Registered[]);
}

/** The dynamic modules of `forRoot()` and `forFeature()` below a module. */
function* dynamicModules(imported: unknown, seen: Set<unknown>): Generator<DynamicModule> {
  const one = (imported as { forwardRef?: () => unknown } | undefined)?.forwardRef?.() ?? imported;
  if (!one || seen.has(one)) return;
  seen.add(one);
  const { module, imports = [] } = typeof one === 'function' ? { module: one } : (one as DynamicModule);
  if (one !== module) yield one as DynamicModule;
  const declared = module === undefined ? [] : ((Reflect.getMetadata('imports', module) ?? []) as unknown[]);
  for (const other of [...imports, ...declared]) yield* dynamicModules(other, seen);
}
