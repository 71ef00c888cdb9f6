import { Global, Injectable, Logger, Module } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { Settings } from '../../core/config/settings.js';
import type { Database } from '../../database/database.js';
import { DeclarationChecks } from '../../database/declaration-checks.js';
import { isInMemory } from '../../database/sqlite/sqlite-data-source.js';
import { DeclarationError } from '../../core/declaration-faults.js';
import { type Findings, checkedHandlers } from './checked-handlers.js';
import { checkColumns, checkDeclaredMigrations } from './entity-checks.js';
import { checkMembers } from './member-checks.js';
import { checkNames } from './name-checks.js';
import { checkOperations } from './operation-checks.js';
import { checkParameters } from './parameter-checks.js';

/**
 * Checks what modules declare before the database is opened: throws DeclarationError for what certainly goes wrong, all faults at
 * once, and logs a warning for what probably does.
 */
@Injectable()
export class ModuleChecks extends DeclarationChecks {
  private readonly logger = new Logger('Start');

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly settings: Settings,
  ) {
    super();
  }

  async check(declared: Database): Promise<void> {
    const findings: Findings = { faults: [], warnings: [] };
    const handlers = checkedHandlers(this.discovery);
    checkOperations(handlers, findings, this.settings.nodeEnv === 'production');
    checkParameters(handlers, findings);
    checkMembers(handlers, findings);
    checkNames(this.discovery, findings);
    await this.checkEntities(declared, findings);
    for (const warning of findings.warnings) this.logger.warn(warning);
    if (findings.faults.length > 0) throw new DeclarationError(findings.faults);
  }

  private async checkEntities(declared: Database, findings: Findings): Promise<void> {
    try {
      await declared.readEntities();
    } catch (error) {
      // TypeORM tells of the first entity that it cannot read.
      findings.faults.push(error instanceof Error ? error.message : String(error));
      return;
    }
    checkColumns(declared, findings);
    // A database in memory is migrated and compared anyway, and nothing of it is left (StartupChecks).
    if (this.settings.nodeEnv !== 'production' && !isInMemory(declared))
      await checkDeclaredMigrations(findings);
  }
}

/** Provides the checks to the database, which waits for them. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [{ provide: DeclarationChecks, useClass: ModuleChecks }],
  exports: [DeclarationChecks],
})
export class ModuleChecksModule {}
