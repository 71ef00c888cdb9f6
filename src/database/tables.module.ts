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

/** The token of the migrations of a module. */
const MIGRATIONS = 'Migrations of a module';

/** Registers the tables of a module outside of src, where they are not found by their file names. */
@Module({})
export class TablesModule {
  /**
   * Provides the repositories of the entities, as TypeOrmModule.forFeature() does, and adds entities and migrations to the database of
   * each application that has the module, of the command line and of the TypeORM CLI.
   */
  static forFeature(tables: Tables): DynamicModule {
    const { providers = [], ...module } = TypeOrmModule.forFeature([...tables.entities]);
    return { ...module, providers: [...providers, { provide: MIGRATIONS, useValue: tables.migrations }] };
  }
}

let roots: readonly unknown[] = [];

/** Names the modules of the command line and of the TypeORM CLI, which make no application that would know them. */
export function tablesBelow(...modules: readonly unknown[]): void {
  roots = modules;
}

/** The tables that modules register, and whether an entity or a migration is left to another DataSource. */
interface RegisteredTables extends Tables {
  readonly belongsElsewhere: (found: Type) => boolean;
}

/**
 * The entities of `TypeOrmModule.forFeature()` and the tables of TablesModule below some modules, wherever their files are. What is
 * registered for a DataSource with a name, and not for that of the service, is left to it. Throws DeclarationError for what is no
 * entity, and for a `forRoot()` whose DataSource would take the place of the service's.
 */
export async function registeredTables(modules: readonly unknown[] = roots): Promise<RegisteredTables> {
  const seen = new Set<unknown>();
  const providers: Registered[] = [];
  for (const module of modules)
    for await (const one of dynamicModules(module, seen))
      providers.push(...((one.providers ?? []) as Registered[]));
  if (providers.filter(({ provide }) => provide === DataSource).length > 1)
    declarationFault(
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
    declarationFault(
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
/** `targetEntitySchema` is set by `forFeature()`, for what is no entity to undefined: test/api/nest-words.spec.ts notices when it is not. */
type Registered = FactoryProvider &
  ValueProvider<(DataSourceOptions & { name?: string }) | undefined> & {
    readonly targetEntitySchema?: { readonly target: Type } | undefined;
  };

/** The dynamic modules of `forRoot()` and `forFeature()` below a module, which may be a promise of one. */
async function* dynamicModules(imported: unknown, seen: Set<unknown>): AsyncGenerator<DynamicModule> {
  const one = await ((imported as { forwardRef?: () => unknown } | undefined)?.forwardRef?.() ?? imported);
  if (!one || seen.has(one)) return;
  seen.add(one);
  const { module, imports = [] } = typeof one === 'function' ? { module: one } : (one as DynamicModule);
  if (one !== module) yield one as DynamicModule;
  const declared = module === undefined ? [] : ((Reflect.getMetadata('imports', module) ?? []) as unknown[]);
  for (const other of [...imports, ...declared]) yield* dynamicModules(other, seen);
}
