import { Controller, RequestMethod, type Type, applyDecorators } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { RequireScopes } from '../auth/auth.decorators.js';
import type { Caller } from '../auth/caller.js';
import { CLIENTS_ERRORS } from '../auth/clients/clients.errors.js';
import type { Scope } from '../auth/clients/scopes.js';
import { type UncountedBound, Uncounted } from '../throttling/uncounted.decorator.js';
import { Tag } from './operation.decorator.js';

/** Who manages what below one path: operators that of all clients, or the holder of a key that of its client. */
export interface Audience {
  /** First part of the paths. */
  readonly prefix: string;
  readonly scope: Scope;
  /** What operations need that only read, where that is less. */
  readonly readScope?: Scope;
  /** The bound of the operations, if no quota counts them. */
  readonly uncounted?: UncountedBound;
  /** The client of whose things alone a caller manages; throws no_account. Without it those of all clients. */
  readonly holderOf?: (caller: Caller | undefined) => { readonly clientId: string };
}

/** What differs between operations on what is one client's and on what is all clients'. */
export function differencesOf({ holderOf }: Audience) {
  return holderOf
    ? { isOwn: true, own: 'Own', errors: [CLIENTS_ERRORS.no_account], holderOf }
    : { isOwn: false, own: '', errors: [], holderOf: (): { readonly clientId?: string } => ({}) };
}

/** A controller below the path of an audience. */
export function AudienceController(
  { prefix, scope, readScope = scope, uncounted }: Audience,
  path: string,
  tag: readonly [name: string, description: string],
): ClassDecorator {
  return applyDecorators(
    Tag(...tag),
    (controller: { readonly prototype: object }) => requireScopes(controller.prototype, scope, readScope),
    ...(uncounted ? [Uncounted(uncounted)] : []),
    Controller(`${prefix}/${path}`),
  );
}

/** Has each operation of a controller need its scope: one for GET, the other for every other method. */
function requireScopes(prototype: object, scope: Scope, readScope: Scope): void {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    const method: unknown = Reflect.getMetadata(METHOD_METADATA, descriptor.value as object);
    if (method === undefined) continue;
    RequireScopes(method === RequestMethod.GET ? readScope : scope)(prototype, name, descriptor);
  }
}

/** Handler parameter: has it validated and documented as this class, where audiences differ. TypeScript names the declared one else. */
export function OfClass(dto: Type): ParameterDecorator {
  return (prototype, method, place) => {
    if (method === undefined) return;
    const types = Reflect.getMetadata('design:paramtypes', prototype, method) as readonly unknown[];
    Reflect.defineMetadata('design:paramtypes', types.with(place, dto), prototype, method);
  };
}
