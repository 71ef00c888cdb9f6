import type { ControllerOptions, INestApplication, Type } from '@nestjs/common';
import { VERSION_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService } from '@nestjs/core';
import { DECORATORS } from '@nestjs/swagger';
import { versionOf } from '../../http/adapter/registered-routes.js';
import { type OperationRecord, operationRecordOf, routeHandlersOf } from '../../http/operation-record.js';
import type { OperationObject } from './document-outlines.js';

/** The handlers that may be below a prefix: those of its version, and those without a version, which may have any path. */
export class DocumentedHandlers {
  /**
   * The modules of these handlers. Schemas of one name are one to @nestjs/swagger, although a Pet of the second version is another
   * one than that of the first.
   */
  readonly modules: Type[];
  /** By operation id, as @nestjs/swagger makes it. */
  private readonly records = new Map<string, OperationRecord>();

  constructor(app: INestApplication, prefix: string) {
    const version = versionOf(prefix);
    const modules = new Set<Type>();
    for (const { controller, method, handler, module } of routeHandlersOf(app.get(DiscoveryService))) {
      const versions = [versionAt(handler) ?? versionAt(controller)].flat();
      if (!versions.some((one) => one === version || typeof one !== 'string')) continue;
      modules.add(module);
      const { operationId = `${controller.name}_${method}` } = (Reflect.getMetadata(
        DECORATORS.API_OPERATION,
        handler,
      ) ?? {}) as { operationId?: string };
      this.records.set(operationId, operationRecordOf(handler, controller));
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

/** The version of a controller or handler, as Nest keeps it; VERSION_NEUTRAL is a symbol. */
function versionAt(target: object): ControllerOptions['version'] {
  return Reflect.getMetadata(VERSION_METADATA, target) as ControllerOptions['version'];
}
