import { type DiscoveryService, MetadataScanner } from '@nestjs/core';
import { getOptionsToken } from '@nestjs/throttler';
import { invalidDeclaration, decorated } from '../../core/declaration-errors.js';
import { declaredOn } from '../../core/declared-operation.js';
import { JOB, type JobOptions } from '../../events/jobs/job.decorator.js';
import { DURABLE_LISTENER, type DurableListening } from '../../events/outbox/outbox.js';
import { throttleError } from '../../throttling/throttle-decorators.js';

const scanner = new MetadataScanner();

/** Metadata key for gateways in @nestjs/websockets, which the service itself does not use. */
const IS_GATEWAY = 'websockets:is_gateway';

/** Checks that each name of a job or durable listener, which the database stores, belongs to only one provider method. */
export function checkNames(discovery: DiscoveryService): void {
  const sources = new Map<string, string>();
  const providers = discovery.getProviders();
  for (const { metatype, isAlias, name } of providers) {
    if (!metatype?.prototype || isAlias) continue;
    for (const [named, key] of namesOf(metatype)) {
      const source = `${String(name)}.${key}`;
      const other = sources.get(named);
      if (other !== undefined)
        invalidDeclaration(`${named} is declared twice: by ${other} and ${source}. Rename one of them.`);
      sources.set(named, source);
    }
  }
  for (const { metatype } of discovery.getControllers())
    if (metatype && providers.every((provider) => provider.metatype !== metatype))
      for (const [named, key] of namesOf(metatype))
        invalidDeclaration(
          `${metatype.name}.${key}: ${named} never runs, because its class is a controller. Move it to a provider.`,
        );
}

/** The jobs and durable listeners declared by a class, each with its method. */
function namesOf({ prototype }: { readonly prototype: object }): [named: string, method: string][] {
  return scanner.getAllMethodNames(prototype).flatMap((key) => {
    const method = (prototype as Readonly<Record<string, unknown>>)[key];
    if (typeof method !== 'function') return [];
    const job = Reflect.getMetadata(JOB, method) as JobOptions | undefined;
    const listening = (Reflect.getMetadata(DURABLE_LISTENER, method) ?? []) as readonly DurableListening[];
    const names = [
      ...(job ? [`Job "${job.name}"`] : []),
      ...listening.map(({ listener, event }) => `Listener "${listener}" of ${event}`),
    ];
    return names.map((named): [string, string] => [named, key]);
  });
}

/** Checks that the Throttler module is the service's own, and its decorators on controllers, gateways and their methods. */
export function checkThrottles(discovery: DiscoveryService): void {
  if (discovery.getProviders().filter(({ token }) => token === getOptionsToken()).length > 1)
    invalidDeclaration(
      'ThrottlerModule: the service counts requests according to the plan of the client, so these options would have no effect. ' +
        'Remove the import, and limit a route with @Throttle({ minute: { limit, ttl } }) or a plan with the setting PLANS.',
    );
  for (const { metatype } of [...discovery.getControllers(), ...discovery.getProviders()]) {
    const prototype = metatype?.prototype as Readonly<Record<string, unknown>> | undefined;
    if (!metatype || !prototype) continue;
    const methods = scanner.getAllMethodNames(prototype).map((key) => [prototype[key], key] as const);
    for (const [target, member] of [[metatype, undefined] as const, ...methods]) {
      const error = typeof target === 'function' ? throttleError(target) : undefined;
      if (error !== undefined) invalidDeclaration(`${decorated(metatype, member)}: ${error}`);
    }
  }
}

/** Checks that every gateway is declared public, because no guard of the service checks its connections and messages. */
export function checkGateways(discovery: DiscoveryService): void {
  for (const { metatype } of discovery.getProviders()) {
    if (typeof metatype !== 'function' || Reflect.getMetadata(IS_GATEWAY, metatype) !== true) continue;
    const prototype = metatype.prototype as Readonly<Record<string, object>>;
    const members = scanner.getAllMethodNames(prototype).map((key) => prototype[key] ?? {});
    const hasScopes = [metatype, ...members].some((target) => declaredOn(target).scopes);
    if (hasScopes || !declaredOn(metatype).isPublic)
      invalidDeclaration(
        `${metatype.name}: keys, scopes and quotas do not apply to a gateway. Declare it @Public(), without @RequireScopes(), ` +
          'or send server-sent events with @Sse(), which need a key.',
      );
  }
}
