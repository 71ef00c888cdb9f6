import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import type { TestingModuleBuilder } from '@nestjs/testing';
import type { PlanLimits } from '../../src/core/config/plan-table.js';
import type { Plan } from '../../src/throttling/plans.js';
import type { DatabaseKind } from './test-database.js';

/** Options of a test's service; each has a default. */
export interface TestServiceOptions {
  /** Plan of the client whose key `request()` sends; business by default. */
  readonly plan?: Plan;
  /** Limits of an enterprise client. */
  readonly limits?: PlanLimits;
  /** Scopes of the key that `request()` sends; by default those that every new key gets. */
  readonly scopes?: string[];
  /** The time that the clock shows, as ISO 8601 text. */
  readonly at?: string;
  /** The database: in memory (the default), or a file in a separate folder, which `close()` removes. */
  readonly database?: DatabaseKind;
  /** Environment variables; they replace those that the kit sets. `LOG_LEVEL: 'error'` shows why a response has the status 500. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Modules to add to the service, as a team adds its own. Services with the same classes share what their documents say; a module that
   * is another each time is given as a dynamic one, `{ module: … }`.
   */
  readonly modules?: readonly NonNullable<ModuleMetadata['imports']>[number][];
  /** Replaces parts as Nest's testing module does: `(testing) => testing.overrideProvider(Mailer).useValue(mailer)`. */
  readonly override?: (testing: TestingModuleBuilder) => TestingModuleBuilder;
  /** Changes the application before it is started, as app.setup.ts may: `(app) => app.use(helmet())`. */
  readonly prepare?: (app: INestApplication) => unknown;
}
