import type { Type } from '@nestjs/common';
import type { Scope } from '../auth/scopes.js';
import { checkDeclaredName, declarationFault } from '../core/declaration-faults.js';

/** What an event's data is; it exists in types alone. */
declare const DATA: unique symbol;

/** An event that endpoints can subscribe to. */
export interface WebhookEvent<Data extends object> {
  /** Such as `pets.created`: `type` of its messages. */
  readonly name: string;
  /** When it happens, and what its `data` holds, in Markdown for the docs. */
  readonly description: string;
  /** The scope that a key needs to subscribe an endpoint to it; undefined if it needs none. */
  readonly scope: Scope | undefined;
  /** Its data in the OpenAPI documents; undefined where no class describes it. */
  readonly data: Type<Data> | undefined;
  readonly [DATA]?: Data;
}

const declared = new Map<string, WebhookEvent<object>>();

/**
 * Declares an event that endpoints can subscribe to: `defineWebhookEvent('toys.sold', { description: 'A toy was sold.', data: ToyDto,
 * scope: TOYS_SCOPES.read })`. The documents show the fields of the class `data`. A name that is malformed, or declared by another feature already, stops the start.
 */
export function defineWebhookEvent<Data extends object>(
  name: string,
  more: { readonly description: string; readonly scope?: Scope; readonly data?: Type<Data> },
): WebhookEvent<Data> {
  const { description, scope, data } = more;
  const event = { name, description, scope, data };
  checkDeclaredName('Webhook event', name, 'subject.verb', 'pets.created');
  if (declared.has(name)) declarationFault(`Webhook event "${name}" is declared twice. Rename one of them.`);
  declared.set(name, event);
  return event;
}

/** The events that were declared, as a table in Markdown. */
export function webhookEventsTable(): string {
  const rows = declaredWebhookEvents().map(({ name, description, scope }) => [
    `\`${name}\``,
    description.replaceAll('|', String.raw`\|`),
    scope ? `\`${scope.name}\`` : '',
  ]);
  return [['Event', 'When', 'Scope'], ['---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** Every event that was declared, by name in alphabetical order. */
export function declaredWebhookEvents(): WebhookEvent<object>[] {
  return [...declared.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
