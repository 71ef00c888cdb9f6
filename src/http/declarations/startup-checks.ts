import { Global, Inject, Injectable, Module, type OnModuleInit, VersioningType } from '@nestjs/common';
import {
  type AbstractHttpAdapter,
  type ApplicationConfig,
  DiscoveryModule,
  DiscoveryService,
  HttpAdapterHost,
  ModulesContainer,
} from '@nestjs/core';
import type { Application } from 'express';
import { DataSource } from 'typeorm';
import { Settings } from '../../core/config/settings.js';
import { invalidDeclaration } from '../../core/declaration-errors.js';
import { type Database, DeclarationChecks } from '../../database/database.js';
import type { Tables } from '../../database/tables.module.js';
import { isInMemory } from '../../database/sqlite/sqlite-data-source.js';
import { routesOf } from '../operations/registered-routes.js';
import { checkGlobalEnhancers, warnOfFilters } from './enhancer-checks.js';
import {
  checkDeclaredMigrations,
  checkEntities,
  checkMigrations,
  checkSchema,
} from '../../database/entity-checks.js';
import { checkGateways, checkNames, checkThrottles } from './provider-checks.js';
import { checkHidden, checkParameters, modulePathsOf } from './path-checks.js';
import { checkIds, checkOperation, checkStored } from './route-checks.js';
import { operationsOf } from '../operations/registered-operation.js';

/** Checks the declarations of the whole application before the database is opened. Throws for an error, and warns of a likely mistake. */
@Injectable()
class ModuleChecks extends DeclarationChecks {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly settings: Settings,
  ) {
    super();
  }

  async check(declared: Database): Promise<void> {
    const isProduction = this.settings.nodeEnv === 'production';
    const operations = operationsOf(this.discovery);
    for (const operation of operations) checkOperation(operation, isProduction);
    checkIds(operations);
    checkNames(this.discovery);
    checkThrottles(this.discovery);
    checkGateways(this.discovery);
    await checkEntities(declared, !isProduction);
    // A database in memory is compared later, by LateChecks, because nothing of it remains after a refused startup.
    if (!isProduction && !isInMemory(declared))
      await checkDeclaredMigrations(declared.options as unknown as Tables);
  }
}

/**
 * Checks that need all providers and the open database. Throws DeclarationError for stored responses of request-scoped controllers, for
 * unsupported global enhancers and path options of the application and, outside of production, if the database lacks something that
 * entities declare.
 */
@Injectable()
export class LateChecks implements OnModuleInit {
  private config: ApplicationConfig | undefined;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    @Inject(DataSource) private readonly dataSource: Database,
    private readonly settings: Settings,
    private readonly discovery: DiscoveryService,
    private readonly modules: ModulesContainer,
  ) {}

  /** Registers an application's configuration, which is checked at startup; called by setupApp(). */
  watch(config: ApplicationConfig): void {
    this.config = config;
  }

  async onModuleInit(): Promise<void> {
    const { discovery, modules } = this;
    checkStored(discovery);
    // By now, RouterModule has assigned the modules' paths.
    for (const operation of operationsOf(discovery))
      checkParameters(operation, modulePathsOf(operation.controller, discovery, modules));
    const adapter = this.adapterHost.httpAdapter as AbstractHttpAdapter | null;
    if (adapter) checkHidden(routesOf(adapter.getInstance<Application>()), discovery);
    if (this.config) {
      checkGlobalEnhancers(this.config);
      checkPaths(this.config);
      warnOfFilters(this.config);
    } else if (adapter)
      invalidDeclaration(
        'NestFactory.create(AppModule): the application is not set up. Call setupApp(app), or create it with createApp().',
      );
    if (this.settings.nodeEnv === 'production') return;
    await (isInMemory(this.dataSource) ? checkMigrations : checkSchema)(this.dataSource);
  }
}

/** Checks that the application's paths are those of the documents, links and keys. */
function checkPaths(config: ApplicationConfig): void {
  if (config.getGlobalPrefix() !== '')
    invalidDeclaration(
      `setGlobalPrefix('${config.getGlobalPrefix()}'): documents, links and keys use the paths without this prefix. Remove the call, and ` +
        'add a path to PUBLIC_BASE_URL that a proxy removes, or set the path of a module in RouterModule.',
    );
  const versioning = config.getVersioning();
  const isChanged = versioning?.type !== VersioningType.URI || versioning.prefix !== undefined;
  if (isChanged || versioning.defaultVersion !== undefined)
    invalidDeclaration(
      'enableVersioning(): the service has already enabled versions in paths, such as /v1. Remove the call, and ' +
        "set the version of a controller: @Controller({ path: 'toys', version: '2' }).",
    );
}

/** Provides the checks to the database, which waits for them. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [{ provide: DeclarationChecks, useClass: ModuleChecks }],
  exports: [DeclarationChecks],
})
export class ModuleChecksModule {}
