import type { Scope } from '../accounts/scopes.js';
import { declarationFault } from '../declaration-faults.js';

/** What an event's data is; it exists in types alone. */
declare const DATA: unique symbol;

/** Something that endpoints can be told of. */
export interface WebhookEvent<Data extends object> {
  /** Such as `pets.created`: `type` of its messages. */
  readonly name: string;
  /** When it happens, for the docs. */
  readonly description: string;
  /** What a key must hold to have an endpoint told of it; undefined where any may. */
  readonly scope: Scope | undefined;
  readonly [DATA]?: Data;
}

const NAME = /^(?=.{1,100}$)[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/;
const declared = new Map<string, WebhookEvent<object>>();

/**
 * Declares an event that endpoints can be told of: `defineWebhookEvent<ToySold>('toys.sold', { description: 'A toy was sold.',
 * scope: TOYS_SCOPES.read })`. A name that is malformed, or declared by another feature already, stops the start.
 */
export function defineWebhookEvent<Data extends object>(
  name: string,
  { description, scope }: { readonly description: string; readonly scope?: Scope },
): WebhookEvent<Data> {
  const event = { name, description, scope };
  if (!NAME.test(name))
    declarationFault(
      `Webhook event "${name}" is not of the form subject.happened, such as pets.created. Rename it.`,
    );
  else if (declared.has(name))
    declarationFault(`Webhook event "${name}" is declared twice. Rename one of them.`);
  else declared.set(name, event);
  return event;
}

/** Every event that was declared, by name in alphabetical order. */
export function declaredWebhookEvents(): WebhookEvent<object>[] {
  return [...declared.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
