import { expect, it } from 'vitest';
import type { Requester } from './audited-changes.js';
import { grantableScopes } from './key-rules.js';
import { defineScope } from '../scopes.js';

it('a client in self-service gets no scope that only operators pass on, also if it names none', () => {
  const shelves = defineScope('shelves', 'Run shelves.', { lastKeyProtected: true });
  const toys = defineScope('toys', 'Toys.');
  const scopes = [shelves.name, toys.name];
  const requester: Requester = { kind: 'key', keyId: 'k', from: null, requestId: null, scopes };
  expect(grantableScopes(undefined, requester)).toEqual(scopes);
  expect(grantableScopes(undefined, { ...requester, clientId: 'c' })).toEqual([toys.name]);
});
