import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { Settings } from '../../core/config/settings.js';
import type { Database } from '../../database/database.js';
import { isInMemory } from '../../database/sqlite/sqlite-data-source.js';
import { DeclarationError } from '../../core/declaration-faults.js';
import type { Findings } from './checked-handlers.js';
import { checkMigrations, checkSchema } from './entity-checks.js';
import { checkListeners } from './listener-checks.js';

/**
 * Checks what is known only once everything is made and the database is open, beside what ModuleChecks has found before: logs a
 * warning for events that nobody declares. Outside production it throws DeclarationError when the
 * schema of the database lacks what entities have; that takes longest.
 */
@Injectable()
export class StartupChecks implements OnModuleInit {
  private readonly logger = new Logger('Start');

  constructor(
    private readonly discovery: DiscoveryService,
    @Inject(DataSource) private readonly dataSource: Database,
    private readonly settings: Settings,
  ) {}

  async onModuleInit(): Promise<void> {
    const findings: Findings = { faults: [], warnings: [] };
    checkListeners(this.discovery, findings);
    if (this.settings.nodeEnv !== 'production')
      // Of a database that outlives the process ModuleChecks has compared entities and migrations already.
      await (isInMemory(this.dataSource) ? checkMigrations : checkSchema)(this.dataSource, findings);
    for (const warning of findings.warnings) this.logger.warn(warning);
    if (findings.faults.length > 0) throw new DeclarationError(findings.faults);
  }
}
