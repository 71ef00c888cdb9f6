import type { ControllerOptions, INestApplication, Type } from '@nestjs/common';
import { PATH_METADATA, VERSION_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService } from '@nestjs/core';
import { DECORATORS } from '@nestjs/swagger';
import { versionOf } from '../../http/operations/registered-routes.js';
import { consumptionOf } from '../../http/body/consumes.decorator.js';
import {
  type OperationRecord,
  type RouteHandler,
  operationRecordOf,
  routeHandlersOf,
} from '../../http/declarations/operation-record.js';
import { ACCOUNT_DOCUMENT, ADMIN_DOCUMENT, type OperationObject } from './document-outlines.js';

/** The prefixes of operations without a version that have a document. */
const WITHOUT_VERSION = new Set([ACCOUNT_DOCUMENT.prefix, ADMIN_DOCUMENT.prefix]);

/** The handlers that may be below a prefix: those of its version, and those without a version whose path may begin with it. */
export class DocumentedHandlers {
  /**
   * The modules of these handlers. Schemas of one name are one to @nestjs/swagger, although a Pet of the second version is another
   * one than that of the first.
   */
  readonly modules: Type[];
  /** By operation id, as @nestjs/swagger makes it. */
  private readonly records = new Map<string, OperationRecord>();

  constructor(app: INestApplication, prefix: string) {
    const modules = new Set<Type>();
    for (const one of routeHandlersOf(app.get(DiscoveryService))) {
      if (!isBelow(one, prefix)) continue;
      const { controller, method, handler, module } = one;
      modules.add(module);
      const { operationId = `${controller.name}_${method}` } = (Reflect.getMetadata(
        DECORATORS.API_OPERATION,
        handler,
      ) ?? {}) as { operationId?: string };
      this.records.set(operationId, operationRecordOf(handler, controller));
      // @nestjs/swagger documents a body without @ApiConsumes() as JSON.
      const { types } = consumptionOf(handler, controller, method);
      Reflect.defineMetadata(DECORATORS.API_CONSUMES, types, handler);
    }
    this.modules = [...modules];
  }

  /** What the handler of an operation declares. An id that nobody has given may end in a version, an index or a method. */
  recordOf({ operationId = '' }: OperationObject): OperationRecord {
    const record =
      this.records.get(operationId) ??
      [...this.records].find(([id]) => ['_', '['].some((end) => operationId.startsWith(id + end)))?.[1];
    return record ?? operationRecordOf(Object, Object);
  }
}

/** The versions of a handler; one that is not a text means all, or none. */
export function versionsOf({ controller, handler }: RouteHandler): unknown[] {
  return [versionAt(handler) ?? versionAt(controller)].flat();
}

/** Whether the document of the operations below a prefix may have a handler. */
export function isBelow(one: RouteHandler, prefix: string): boolean {
  const versions = versionsOf(one);
  if (versions.some((version) => typeof version === 'string')) return versions.includes(versionOf(prefix));
  const [first = ''] = [Reflect.getMetadata(PATH_METADATA, one.controller) as string | string[]].flat();
  const top = first.split('/').find((segment) => segment !== '') ?? '';
  return !WITHOUT_VERSION.has(`/${top}`) || `/${top}` === prefix;
}

/** The version of a controller or handler, as Nest keeps it; VERSION_NEUTRAL is a symbol. */
function versionAt(target: object): ControllerOptions['version'] {
  return Reflect.getMetadata(VERSION_METADATA, target) as ControllerOptions['version'];
}
