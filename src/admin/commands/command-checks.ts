import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AbstractHttpAdapter, DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import { DECORATORS } from '@nestjs/swagger';
import type { Application } from 'express';
import { invalidDeclaration } from '../../core/declaration-errors.js';
import { metadataOf, operationsOf } from '../../http/operations/registered-operation.js';
import { routesOf } from '../../http/operations/registered-routes.js';
import { COMMAND_EXTENSION, isCommandName, commandsFor } from './command-names.js';

/** Checks at startup that no two administration operations have the same command name. */
@Injectable()
export class CommandChecks implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly discovery: DiscoveryService,
  ) {}

  /** Nest calls this when all routes are registered. Throws DeclarationError. */
  onModuleInit(): void {
    const adapter = this.adapterHost.httpAdapter as AbstractHttpAdapter | null;
    if (!adapter) return;
    // Nest gives the registered function the handler's name.
    const handlers = new Map(operationsOf(this.discovery).map((one) => [one.name, one]));
    const owners = new Map<string, string>();
    for (const { method, path, handler } of routesOf(adapter.getInstance<Application>())) {
      const { name } = handler;
      const declaring = handlers.get(name);
      if (!declaring || !path.startsWith('/admin/')) continue;
      const read = (key: string) => metadataOf(declaring, key) as Record<string, string> | undefined;
      const id = read(DECORATORS.API_OPERATION)?.['operationId'];
      const declared = read(DECORATORS.API_EXTENSION)?.[COMMAND_EXTENSION];
      for (const command of commandsFor(id, declared, method.toLowerCase(), path.slice('/admin'.length))) {
        if (!isCommandName(command) && declared !== undefined)
          invalidDeclaration(
            `${name}: "${command}" cannot be a command. Use two words in lower case, such as "toy paint".`,
          );
        const owner = owners.get(command) ?? name;
        if (owner !== name && isCommandName(command))
          invalidDeclaration(
            `${name}: "petstore ${command}" is also the command of ${owner}. Choose another name with @ApiExtension('${COMMAND_EXTENSION}', 'toy paint').`,
          );
        owners.set(command, name);
      }
    }
  }
}
