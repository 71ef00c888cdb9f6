import {
  type DynamicModule,
  type FactoryProvider,
  Module,
  type Type,
  type ValueProvider,
} from '@nestjs/common';
import { TypeOrmModule, getRepositoryToken } from '@nestjs/typeorm';
import { DataSource, type DataSourceOptions, type MigrationInterface } from 'typeorm';
import { invalidDeclaration } from '../core/declaration-errors.js';

/** The tables of a module: their entities, and the migrations that create and change them. */
export interface Tables {
  readonly entities: readonly Type[];
  /** In any order: they run by the timestamp in milliseconds at the end of each class name. */
  readonly migrations: readonly Type<MigrationInterface>[];
}

const MIGRATIONS = 'Migrations of a module';

/** Registers the tables of a module outside of src, where they are not found by file name. */
@Module({})
export class TablesModule {
  /**
   * Provides the entities' repositories, like TypeOrmModule.forFeature(), and adds entities and migrations to the database of every
   * application that imports the module, of the command line and of the TypeORM CLI.
   */
  static forFeature(tables: Tables): DynamicModule {
    const { providers = [], ...module } = TypeOrmModule.forFeature([...tables.entities]);
    return { ...module, providers: [...providers, { provide: MIGRATIONS, useValue: tables.migrations }] };
  }
}

let roots: readonly unknown[] = [];

/** Sets the modules for the command line and the TypeORM CLI, which do not create an application that would import them. */
export function tablesBelow(...modules: readonly unknown[]): void {
  roots = modules;
}

/** The tables that modules register, and whether an entity or migration belongs to another DataSource. */
interface RegisteredTables extends Tables {
  readonly belongsElsewhere: (found: Type) => boolean;
}

/**
 * The entities of `TypeOrmModule.forFeature()` and the tables of TablesModule in a module tree, wherever their files are. Those registered
 * only for a named DataSource, not for the service's, are skipped. Throws DeclarationError for an invalid entity, and for a `forRoot()`
 * whose DataSource would replace the service's.
 */
export async function registeredTables(modules: readonly unknown[] = roots): Promise<RegisteredTables> {
  const seen = new Set<unknown>();
  const providers: Registered[] = [];
  for (const module of modules)
    for await (const one of dynamicModules(module, seen))
      providers.push(...((one.providers ?? []) as Registered[]));
  if (providers.filter(({ provide }) => provide === DataSource).length > 1)
    invalidDeclaration(
      'TypeOrmModule.forRoot() without a name would replace the DataSource of the service. ' +
        'Give it a name, or use TypeOrmModule.forFeature() alone.',
    );
  return {
    entities: providers.flatMap(entityOf),
    migrations: providers.flatMap(({ provide, useValue }) =>
      provide === MIGRATIONS ? (useValue as unknown as Tables['migrations']) : [],
    ),
    belongsElsewhere: ownership(providers),
  };
}

function entityOf(registered: Registered): Type[] {
  const { inject: [from] = [], provide, targetEntitySchema } = registered;
  if (from !== DataSource || !('targetEntitySchema' in registered)) return [];
  if (!targetEntitySchema)
    invalidDeclaration(
      `TypeOrmModule.forFeature(): ${String(provide).replace(/Repository$/, '')} is not a class with @Entity(). ` +
        'Decorate the class; an EntitySchema is not supported.',
    );
  return [targetEntitySchema.target];
}

function ownership(providers: readonly Registered[]): (found: Type) => boolean {
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
/** `forFeature()` sets `targetEntitySchema`, to undefined for an invalid entity; test/api/nest-words.spec.ts detects a change. */
type Registered = FactoryProvider &
  ValueProvider<(DataSourceOptions & { name?: string }) | undefined> & {
    readonly targetEntitySchema?: { readonly target: Type } | undefined;
  };

/** The dynamic modules of `forRoot()` and `forFeature()` in the tree of a module, which may be a promise. */
async function* dynamicModules(imported: unknown, seen: Set<unknown>): AsyncGenerator<DynamicModule> {
  const one = await ((imported as { forwardRef?: () => unknown } | undefined)?.forwardRef?.() ?? imported);
  if (!one || seen.has(one)) return;
  seen.add(one);
  const { module, imports = [] } = typeof one === 'function' ? { module: one } : (one as DynamicModule);
  if (one !== module) yield one as DynamicModule;
  const declared = module === undefined ? [] : ((Reflect.getMetadata('imports', module) ?? []) as unknown[]);
  for (const other of [...imports, ...declared]) yield* dynamicModules(other, seen);
}
