import type { Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import { type DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { PUBLIC_ROUTE, REQUIRED_SCOPES } from '../../auth/auth.decorators.js';
import { API_ERRORS } from '../../core/errors/api-errors.decorator.js';
import type { ErrorRow } from '../../core/errors/define-errors.js';
import { UNCOUNTED, type UncountedBound } from '../../throttling/uncounted.decorator.js';
import { type DeclaredOperation, declaredOperationOf } from '../operations/declared-operation.js';
import { type IfMatchNeed, ifMatchNeedOf } from '../replies/precondition.guard.js';
import { DEPRECATION, type Deprecation } from '../deprecation/deprecated.decorator.js';
import { IDEMPOTENT } from '../idempotency/idempotent.decorator.js';

/** Metadata key of the description that `@Tag()` gives to a controller. */
export const TAG_DESCRIPTION = 'petstore:tag-description';

/** Declarations of a handler and its controller: the metadata that the guards read, for the OpenAPI document. */
export interface OperationRecord {
  /** The declaration of `@Operation()`; undefined without it. */
  readonly declared: DeclaredOperation | undefined;
  /** The text of `@Tag()`. */
  readonly tagDescription: string | undefined;
  /** The errors of `@ApiErrors()`. */
  readonly errors: readonly ErrorRow[];
  /** Whether callers need no key. */
  readonly isPublic: boolean;
  /** Undefined without `@RequireScopes()`; empty when it has no argument. */
  readonly scopes: readonly string[] | undefined;
  readonly bound: UncountedBound | undefined;
  readonly deprecation: Deprecation | undefined;
  readonly isIdempotent: boolean;
  readonly ifMatch: IfMatchNeed | undefined;
}

type Target = Parameters<Reflector['getAllAndMerge']>[1][number];

const reflector = new Reflector();

/** The record of a handler in a controller. */
export function operationRecordOf(handler: object, controller: Type): OperationRecord {
  const targets = [handler as Target, controller];
  const declared = (key: string): unknown => reflector.getAllAndOverride(key, targets);
  const needsScopes = targets.some((target) => Reflect.hasMetadata(REQUIRED_SCOPES, target));
  return {
    declared: declaredOperationOf(handler),
    tagDescription: declared(TAG_DESCRIPTION) as string | undefined,
    errors: reflector.getAllAndMerge<ErrorRow[]>(API_ERRORS, targets),
    isPublic: declared(PUBLIC_ROUTE) === true,
    scopes: needsScopes ? reflector.getAllAndMerge<string[]>(REQUIRED_SCOPES, targets) : undefined,
    bound: declared(UNCOUNTED) as UncountedBound | undefined,
    deprecation: declared(DEPRECATION) as Deprecation | undefined,
    isIdempotent: declared(IDEMPOTENT) === true,
    ifMatch: ifMatchNeedOf(handler),
  };
}

/** A method of a controller with a route. */
export interface RouteHandler {
  /** Such as `PetsController.listPets`. */
  readonly name: string;
  readonly controller: Type;
  readonly method: string;
  readonly handler: object;
  /** The module of the controller. */
  readonly module: Type;
}

/** The methods of all controllers with a route. */
export function routeHandlersOf(discovery: DiscoveryService): RouteHandler[] {
  const scanner = new MetadataScanner();
  return discovery.getControllers().flatMap(({ metatype, host }) => {
    const controller = metatype as Type;
    const prototype = controller.prototype as Readonly<Record<string, object>>;
    return scanner.getAllMethodNames(prototype).flatMap((method) => {
      const handler = prototype[method];
      if (!handler || !Reflect.hasMetadata(PATH_METADATA, handler)) return [];
      return {
        name: `${controller.name}.${method}`,
        controller,
        method,
        handler,
        module: host?.metatype as Type,
      };
    });
  });
}
