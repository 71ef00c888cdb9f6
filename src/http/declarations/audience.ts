import { Controller, RequestMethod, type Type, applyDecorators } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import type { OperationLimit } from '../../core/declared-operation.js';
import { RequireScopes } from '../../auth/auth.decorators.js';
import type { Caller } from '../../auth/caller.js';
import { CLIENTS_ERRORS } from '../../auth/clients/clients.errors.js';
import type { Scope } from '../../auth/scopes.js';
import { Uncounted } from '../../throttling/uncounted.decorator.js';
import { Tag } from './operation.decorator.js';

/** The users of a path prefix: operators for all clients, or key holders for their own client. */
export interface Audience {
  /** First segment of the paths. */
  readonly prefix: string;
  readonly scope: Scope;
  /** Scope of read operations, if it differs. */
  readonly readScope?: Scope;
  /** The limit of the operations, if they do not count toward the quota. */
  readonly uncounted?: OperationLimit;
  /** The limit of read operations, if it differs. */
  readonly uncountedReads?: OperationLimit;
  /** The client that a caller is limited to; throws no_account. Undefined for operators. */
  readonly holderOf?: (caller: Caller | undefined) => { readonly clientId: string };
}

/** Differences between the operations on one client and those on all clients. */
export function differencesOf({ holderOf }: Audience) {
  const isOwn = holderOf !== undefined;
  return { isOwn, own: isOwn ? 'Own' : '', errors: isOwn ? [CLIENTS_ERRORS.no_account] : [] };
}

/** A controller under the path of an audience. */
export function AudienceController(
  audience: Audience,
  path: string,
  tag: readonly [name: string, description: string],
): ClassDecorator {
  const { prefix, uncounted } = audience;
  return applyDecorators(
    Tag(...tag),
    (controller: { readonly prototype: object }) => separateReads(controller.prototype, audience),
    ...(uncounted ? [Uncounted(uncounted)] : []),
    Controller(`${prefix}/${path}`),
  );
}

/** Sets the scope and limit of each operation in a controller: those of reads for GET, the others for all other methods. */
function separateReads(
  prototype: object,
  { scope, readScope = scope, uncounted, uncountedReads = uncounted }: Audience,
): void {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    const method: unknown = Reflect.getMetadata(METHOD_METADATA, descriptor.value as object);
    if (method === undefined) continue;
    const isRead = method === RequestMethod.GET;
    RequireScopes(isRead ? readScope : scope)(prototype, name, descriptor);
    if (isRead && uncountedReads) Uncounted(uncountedReads)(prototype, name, descriptor);
  }
}

/** Handler parameter: validates and documents it as this class if audiences differ; by default, as declared. */
export function OfClass(dto: Type): ParameterDecorator {
  return (prototype, method, index) => {
    if (method === undefined) return;
    const types = Reflect.getMetadata('design:paramtypes', prototype, method) as readonly unknown[];
    Reflect.defineMetadata('design:paramtypes', types.with(index, dto), prototype, method);
  };
}
