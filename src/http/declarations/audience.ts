import { Controller, RequestMethod, type Type, applyDecorators } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import type { UncountedBound } from '../../core/declared-operation.js';
import { RequireScopes } from '../../auth/auth.decorators.js';
import type { Caller } from '../../auth/caller.js';
import { CLIENTS_ERRORS } from '../../auth/clients/clients.errors.js';
import type { Scope } from '../../auth/scopes.js';
import { Uncounted } from '../../throttling/uncounted.decorator.js';
import { Tag } from './operation.decorator.js';

/** The users of one path: operators for all clients, or key holders for their client. */
export interface Audience {
  /** First part of the paths. */
  readonly prefix: string;
  readonly scope: Scope;
  /** Scope of read operations, if it is a smaller one. */
  readonly readScope?: Scope;
  /** The bound of the operations, if no quota counts them. */
  readonly uncounted?: UncountedBound;
  /** The bound of read operations, if it is another one. */
  readonly uncountedReads?: UncountedBound;
  /** The client to which a caller is limited; throws no_account. Without it, all clients. */
  readonly holderOf?: (caller: Caller | undefined) => { readonly clientId: string };
}

/** Differences between operations on one client and on all clients. */
export function differencesOf({ holderOf }: Audience) {
  const isOwn = holderOf !== undefined;
  return { isOwn, own: isOwn ? 'Own' : '', errors: isOwn ? [CLIENTS_ERRORS.no_account] : [] };
}

/** A controller below the path of an audience. */
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

/** Has each operation of a controller need its scope and keep its bound: those of reads for GET, the others for every other method. */
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

/** Handler parameter: validates and documents it as this class, where audiences differ; by default as the declared one. */
export function OfClass(dto: Type): ParameterDecorator {
  return (prototype, method, place) => {
    if (method === undefined) return;
    const types = Reflect.getMetadata('design:paramtypes', prototype, method) as readonly unknown[];
    Reflect.defineMetadata('design:paramtypes', types.with(place, dto), prototype, method);
  };
}
