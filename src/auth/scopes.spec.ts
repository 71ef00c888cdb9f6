import { beforeEach, describe, expect, it } from 'vitest';
import { declaredScopes, defineScope, defineScopes } from './scopes.js';

beforeEach(() => {
  if (declaredScopes().length > 0) return;
  defineScopes('toys', { write: 'Sell toys', read: 'See toys' });
  defineScope('keeper', 'Do anything', { grantedByDefault: false, lastKeyProtected: true });
});

describe('a scope', () => {
  it.each([
    '',
    'Toys',
    'toys:',
    ':read',
    'toys:read:all',
    '1toys',
    'toys:1',
    'toys read',
    'toys:re ad',
    ' toys',
    'toys ',
  ])('is not called %o', (name) => {
    expect(() => defineScope(name, 'Wrong')).toThrow(`Scope "${name}" is not of the form feature:right`);
    expect(declaredScopes().map((scope) => scope.name)).not.toContain(name);
  });

  it.each(['t', 'toys2-new', 'x:y', 'x2:y-2'])('may be called %o', (name) => {
    const scope = defineScope(name, 'Right');
    expect(declaredScopes()).toContain(scope);
    expect(declaredScopes()).toContainEqual({
      name,
      description: 'Right',
      grantedByDefault: true,
      lastKeyProtected: false,
      includes: [],
    });
  });
});
