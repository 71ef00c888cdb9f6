import { expect, it } from 'vitest';
import type { Operator } from './audited-changes.js';
import { grantableScopes } from './key-rules.js';
import { defineScope } from './scopes.js';

it('a client that orders for itself gets no scope that operators alone pass on, also where it names none', () => {
  const shelves = defineScope('shelves', 'Run shelves.', { lastKeyProtected: true });
  const toys = defineScope('toys', 'Toys.');
  const scopes = [shelves.name, toys.name];
  const operator: Operator = { kind: 'key', keyId: 'k', from: null, requestId: null, scopes };
  expect(grantableScopes(undefined, operator)).toEqual(scopes);
  expect(grantableScopes(undefined, { ...operator, clientId: 'c' })).toEqual([toys.name]);
});
