import { expect, it } from 'vitest';
import type { Requester } from '../../auth/clients/audited-changes.js';
import { defineScope } from '../../auth/scopes.js';
import { defineWebhookEvent } from '../webhook-events.js';
import { requireEventScopes } from './endpoint-rules.js';

const read = defineScope('shelves:read', 'Read shelves.');
defineScope('shelves', 'Run shelves.', { includes: [read] });
defineWebhookEvent('shelves.filled', { description: 'Filled.', scope: read });

it.each([
  [['shelves:read'], true],
  [['shelves'], true],
  [['toys'], false],
])('an event is open to keys with its scope, or one that includes it: %j %s', (scopes, isOpen) => {
  const requester: Requester = { kind: 'key', keyId: 'k', from: null, requestId: null, scopes };
  const ordering = () => requireEventScopes(['shelves.filled'], requester);
  if (isOpen) expect(ordering).not.toThrow();
  else expect(ordering).toThrow('shelves:read');
});
