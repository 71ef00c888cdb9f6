import { type DiscoveryService, MetadataScanner } from '@nestjs/core';
import { DURABLE_LISTENER, type DurableListening } from '../../events/outbox/outbox.js';
import { JOB, type JobOptions } from '../../events/jobs/job.decorator.js';
import type { Findings } from './checked-handlers.js';

/** Checks that names which the database keeps belong to one method each: those of jobs and of durable listeners. */
export function checkNames(discovery: DiscoveryService, { faults }: Findings): void {
  const sources = new Map<string, string>();
  for (const { source, method } of methodsOf(discovery))
    for (const named of namesOf(method)) {
      const other = sources.get(named);
      sources.set(named, source);
      if (other !== undefined)
        faults.push(`${named} is declared twice: by ${other} and ${source}. Rename one of them.`);
    }
}

function namesOf(method: object): string[] {
  const job = Reflect.getMetadata(JOB, method) as JobOptions | undefined;
  const listening = (Reflect.getMetadata(DURABLE_LISTENER, method) ?? []) as DurableListening[];
  return [
    ...(job ? [`Job "${job.name}"`] : []),
    ...listening.map(({ listener, event }) => `Listener "${listener}" of ${event}`),
  ];
}

/** The methods of the classes of all providers. What a factory will make is not known yet. */
function methodsOf(discovery: DiscoveryService): { source: string; method: object }[] {
  const scanner = new MetadataScanner();
  return discovery.getProviders().flatMap((wrapper) => {
    const prototype = wrapper.metatype?.prototype as Readonly<Record<string, unknown>> | undefined;
    if (!prototype || wrapper.isAlias) return [];
    return scanner.getAllMethodNames(prototype).flatMap((name) => {
      const method = prototype[name];
      return typeof method === 'function' ? [{ source: `${String(wrapper.name)}.${name}`, method }] : [];
    });
  });
}
