import type { Type } from '@nestjs/common';
import type { Scope } from '../auth/scopes.js';
import { checkDeclaredName, invalidDeclaration } from '../core/declaration-errors.js';

/** The type of the event's data, which exists only at compile time. */
declare const DATA: unique symbol;

/** An event that endpoints can subscribe to. */
export interface WebhookEvent<Data extends object> {
  /** Such as `pets.created`; the `type` of its messages. */
  readonly name: string;
  /** When it occurs and what its `data` contains, in Markdown for the docs. */
  readonly description: string;
  /** The scope that a key needs to subscribe an endpoint to it; undefined if none. */
  readonly scope: Scope | undefined;
  /** The class of its data for the OpenAPI documents; undefined if there is none. */
  readonly data: Type<Data> | undefined;
  readonly [DATA]?: Data;
}

const declared = new Map<string, WebhookEvent<object>>();

/**
 * Declares an event that endpoints can subscribe to: `defineWebhookEvent('toys.sold', { description: 'A toy was sold.', data: ToyDto,
 * scope: TOYS_SCOPES.read })`. The documents contain the fields of the class `data`. The service does not start if the name is malformed or
 * already declared by another feature.
 */
export function defineWebhookEvent<Data extends object>(
  name: string,
  more: { readonly description: string; readonly scope?: Scope; readonly data?: Type<Data> },
): WebhookEvent<Data> {
  const { description, scope, data } = more;
  const event = { name, description, scope, data };
  checkDeclaredName('Webhook event', name, 'subject.verb', 'pets.created');
  if (declared.has(name))
    invalidDeclaration(`Webhook event "${name}" is declared twice. Rename one of them.`);
  declared.set(name, event);
  return event;
}

/** The declared events as a Markdown table. */
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

/** Every declared event, in alphabetical order of name. */
export function declaredWebhookEvents(): WebhookEvent<object>[] {
  return [...declared.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
