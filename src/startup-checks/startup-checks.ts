import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { InterceptorsOfCached } from '../caching/interceptors-of-cached.js';
import { Settings } from '../config/settings.js';
import { type Findings, checkedHandlers } from './checked-handlers.js';
import { checkColumns, checkMigrations } from './entity-checks.js';
import { checkListeners } from './listener-checks.js';
import { checkMembers } from './member-checks.js';
import { checkOperations } from './operation-checks.js';
import { checkParameters } from './parameter-checks.js';
import { checkSpeed } from './speed-checks.js';

/** Something that a feature declares cannot work; the message has one line for each fault. */
export class DeclarationError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(['What the modules declare cannot work:', ...faults].join('\n'));
  }
}

/**
 * Checks what modules declare when the service starts: throws DeclarationError for what certainly goes wrong, all faults at once,
 * and logs a warning for what probably does. Outside production it compares entities and migrations, too, which takes longest.
 */
@Injectable()
export class StartupChecks implements OnModuleInit {
  private readonly logger = new Logger('Start');

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly dataSource: DataSource,
    private readonly settings: Settings,
    private readonly adapterHost: HttpAdapterHost,
    private readonly interceptors: InterceptorsOfCached,
  ) {}

  async onModuleInit(): Promise<void> {
    const findings: Findings = { faults: [], warnings: [] };
    const handlers = checkedHandlers(this.discovery);
    checkOperations(handlers, findings);
    checkParameters(handlers, findings);
    checkMembers(handlers, findings);
    checkColumns(this.dataSource, findings);
    checkListeners(this.discovery, findings);
    checkSpeed(this.adapterHost, this.interceptors, findings);
    if (this.settings.nodeEnv !== 'production') await checkMigrations(this.dataSource, findings);
    for (const warning of findings.warnings) this.logger.warn(warning);
    if (findings.faults.length > 0) throw new DeclarationError(findings.faults);
  }
}
