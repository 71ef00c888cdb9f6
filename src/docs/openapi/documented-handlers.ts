import type { INestApplication, Type } from '@nestjs/common';
import { PATH_METADATA, VERSION_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService } from '@nestjs/core';
import { DECORATORS } from '@nestjs/swagger';
import { versionOf } from '../../http/operations/registered-routes.js';
import type { DeclaredOperation } from '../../core/declared-operation.js';
import {
  type RegisteredOperation,
  metadataOf,
  operationsOf,
} from '../../http/operations/registered-operation.js';
import { ACCOUNT_DOCUMENT, ADMIN_DOCUMENT, type OperationObject } from './document-outlines.js';

/** The prefixes of operations without a version that have a document. */
const WITHOUT_VERSION = new Set([ACCOUNT_DOCUMENT.prefix, ADMIN_DOCUMENT.prefix]);

/** The handlers that may be below a prefix: those of its version, and those without a version whose path may begin with it. */
export class DocumentedHandlers {
  /**
   * The modules of these handlers. Versions are documented separately because @nestjs/swagger merges schemas with the same name, although a
   * Pet may differ between versions.
   */
  readonly modules: Type[];
  /** By operation id, as @nestjs/swagger makes it. */
  private readonly operations = new Map<string, RegisteredOperation>();

  constructor(app: INestApplication, prefix: string) {
    const discovery = app.get(DiscoveryService);
    const controllers = new Set<unknown>();
    for (const one of operationsOf(discovery)) {
      if (!isBelow(one, prefix)) continue;
      const { controller, method, handler, consumption } = one;
      controllers.add(controller);
      const { operationId = `${controller.name}_${method}` } = (Reflect.getMetadata(
        DECORATORS.API_OPERATION,
        handler,
      ) ?? {}) as { operationId?: string };
      this.operations.set(operationId, one);
      // @nestjs/swagger documents a body without @ApiConsumes() as JSON.
      Reflect.defineMetadata(DECORATORS.API_CONSUMES, consumption.types, handler);
    }
    const found = discovery.getControllers().filter(({ metatype }) => controllers.has(metatype));
    this.modules = [...new Set(found.map(({ host }) => host?.metatype as Type))];
  }

  /** What the handler of an operation declares. An id that nobody has given may end in a version, an index or a method. */
  declaredOf({ operationId = '' }: OperationObject): DeclaredOperation {
    const declared =
      this.operations.get(operationId) ??
      [...this.operations].find(([id]) => ['_', '['].some((end) => operationId.startsWith(id + end)))?.[1];
    return declared ?? {};
  }
}

/** The versions of an operation; one that is not a text, as VERSION_NEUTRAL, means all, or none. */
export function versionsOf(operation: RegisteredOperation): unknown[] {
  return [metadataOf(operation, VERSION_METADATA)].flat();
}

/** Whether the document of the operations below a prefix may have a handler. */
export function isBelow(one: RegisteredOperation, prefix: string): boolean {
  const versions = versionsOf(one);
  if (versions.some((version) => typeof version === 'string')) return versions.includes(versionOf(prefix));
  const [first = ''] = [Reflect.getMetadata(PATH_METADATA, one.controller) as string | string[]].flat();
  const top = first.split('/').find((segment) => segment !== '') ?? '';
  return !WITHOUT_VERSION.has(`/${top}`) || `/${top}` === prefix;
}
