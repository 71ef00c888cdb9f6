import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import type { TestingModuleBuilder } from '@nestjs/testing';
import type { PlanLimits } from '../../src/core/config/plan-table.js';
import type { Plan } from '../../src/throttling/plans.js';
import type { DatabaseKind } from './test-database.js';

/** Options of a test's service; each has a default. */
export interface TestServiceOptions {
  /** Plan of the client whose key `request()` sends; by default business. */
  readonly plan?: Plan;
  /** Limits of an enterprise client. */
  readonly limits?: PlanLimits;
  /** Scopes of the key that `request()` sends; by default the scopes of every new key. */
  readonly scopes?: string[];
  /** The initial time of the clock, in ISO 8601 format. */
  readonly at?: string;
  /** The database: in memory (the default), a file, or a PostgreSQL database. `close()` removes it. */
  readonly database?: DatabaseKind;
  /** Environment variables, which override those that the kit sets. `LOG_LEVEL: 'error'` logs the cause of a response with status 500. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Modules to add to the service. Services with the same module classes share cached OpenAPI documents, so pass a module that differs
   * between services as a dynamic module, `{ module: … }`.
   */
  readonly modules?: readonly NonNullable<ModuleMetadata['imports']>[number][];
  /** Overrides providers through Nest's testing module: `(testing) => testing.overrideProvider(Mailer).useValue(mailer)`. */
  readonly override?: (testing: TestingModuleBuilder) => TestingModuleBuilder;
  /** Configures the application before it starts, as app.setup.ts does: `(app) => app.use(helmet())`. */
  readonly prepare?: (app: INestApplication) => unknown;
}
