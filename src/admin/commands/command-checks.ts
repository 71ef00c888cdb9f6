import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AbstractHttpAdapter, DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import { DECORATORS } from '@nestjs/swagger';
import type { Application } from 'express';
import { declarationFault } from '../../core/declaration-faults.js';
import { metadataOf, operationsOf } from '../../http/operations/registered-operation.js';
import { routesOf } from '../../http/operations/registered-routes.js';
import { COMMAND_WORDS, areWords, commandsFor } from './command-words.js';

/** Checks at the start that no two operations of the administration are commands with the same words. */
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
    // Nest names the function that it registers after the handler.
    const handlers = new Map(operationsOf(this.discovery).map((one) => [one.name, one]));
    const owners = new Map<string, string>();
    for (const { method, path, handler } of routesOf(adapter.getInstance<Application>())) {
      const { name } = handler;
      const declaring = handlers.get(name);
      if (!declaring || !path.startsWith('/admin/')) continue;
      const read = (key: string) => metadataOf(declaring, key) as Record<string, string> | undefined;
      const id = read(DECORATORS.API_OPERATION)?.['operationId'];
      const declared = read(DECORATORS.API_EXTENSION)?.[COMMAND_WORDS];
      for (const words of commandsFor(id, declared, method.toLowerCase(), path.slice('/admin'.length))) {
        if (!areWords(words) && declared !== undefined)
          declarationFault(
            `${name}: "${words}" cannot be a command. Use two words in lower case, such as "toy paint".`,
          );
        const owner = owners.get(words) ?? name;
        if (owner !== name && areWords(words))
          declarationFault(
            `${name}: "petstore ${words}" is also the command of ${owner}. Choose another name with @ApiExtension('${COMMAND_WORDS}', 'toy paint').`,
          );
        owners.set(words, name);
      }
    }
  }
}
