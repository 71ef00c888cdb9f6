import { scopeChallenge } from '../../core/errors/challenge.js';
import { type Requester } from '../../auth/clients/audited-changes.js';
import { isHeld } from '../../auth/scopes.js';
import { ApiError, type ErrorDetail } from '../../core/errors/api-error.js';
import { declaredWebhookEvents } from '../webhook-events.js';
import { WEBHOOK_TEST } from '../webhooks.events.js';
import type { WebhookEventDto } from './dto/webhook-endpoint.dto.js';
import { WEBHOOK_ERRORS } from './webhook-endpoints.errors.js';

/** Maximum number of endpoints per client. */
export const MAX_ENDPOINTS = 20;

/** The events that an endpoint can subscribe to, in alphabetical order of name. */
export function grantableEvents(): WebhookEventDto[] {
  return declaredWebhookEvents()
    .filter((event) => event !== WEBHOOK_TEST)
    .map(({ name, description, scope }) => ({ name, description, scope: scope?.name ?? null }));
}

/** Errors in the field `events`: each unknown event, by its index. */
export function eventErrors(events: readonly string[]): ErrorDetail[] {
  const known = new Set(grantableEvents().map(({ name }) => name));
  const message = `There is no such event. The events are ${[...known].join(', ')}.`;
  return events.flatMap((name, place) =>
    known.has(name) ? [] : [{ field: `events.${place}`, code: 'unknown_event', message }],
  );
}

/**
 * Throws event_scope_not_held if the requester lacks the scope of one of these events. The scope of an event that no module declares any
 * more is unknown, so no key has it.
 */
export function requireEventScopes(events: readonly string[], { scopes: held }: Requester): void {
  if (held === 'all') return;
  const declared = new Map(declaredWebhookEvents().map((event) => [event.name, event]));
  const lacking = new Set<string>();
  for (const name of events) {
    const event = declared.get(name);
    if (!event) throw missingScopes([`those of ${name}, which no module declares anymore`], []);
    if (event.scope && !isHeld(event.scope.name, held)) lacking.add(event.scope.name);
  }
  const scopes = [...lacking].toSorted();
  if (scopes.length > 0) throw missingScopes(scopes, scopes);
}

function missingScopes(missing: readonly string[], scopes: readonly string[]): ApiError {
  return new ApiError(WEBHOOK_ERRORS.event_scope_not_held, {
    params: { scopes: missing.join(', ') },
    headers: { 'WWW-Authenticate': scopeChallenge(scopes) },
  });
}
