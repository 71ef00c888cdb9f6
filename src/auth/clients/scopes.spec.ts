import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { CLIENTS_ERRORS } from './clients.errors.js';
import { type Operator, SERVICE_ITSELF } from './audited-changes.js';
import { grantableScopes, requireScopesHeld } from './key-rules.js';
import { declaredScopes, defineScope, defineScopes } from './scopes.js';

beforeEach(() => {
  if (declaredScopes().length > 0) return;
  defineScopes('toys', { write: 'Sell toys', read: 'See toys' });
  defineScope('keeper', 'Do anything', { grantedByDefault: false, lastKeyProtected: true });
});

const holding = (...scopes: string[]): Operator => ({ ...SERVICE_ITSELF, kind: 'key', scopes });

/** The refusal that work ends in. */
function refusal(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('a scope', () => {
  it('is declared once, by the feature that guards with it', () => {
    expect(() => defineScopes('toys', { read: 'Read toys' })).toThrow('Scope "toys:read" is declared twice.');
  });

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

describe('the scopes of a new key', () => {
  it('are those granted by default, where none are named', () => {
    const scopes = grantableScopes(undefined, SERVICE_ITSELF);
    expect(scopes).toEqual(expect.arrayContaining(['toys:read', 'toys:write']));
    expect(scopes).not.toContain('keeper');
  });

  it.each([
    ['all of them', ['toys:read', 'toys:write'], ['toys:read', 'toys:write']],
    ['some of them', ['keeper', 'toys:write'], ['toys:write']],
    ['one that nobody declares any more', ['gone:read', 'toys:read'], ['toys:read']],
  ])('are those granted by default that the operator holds, where it holds %s', (_, held, expected) => {
    expect(grantableScopes(undefined, holding(...held))).toEqual(expected);
  });

  it('are refused by name where the operator holds none of those granted by default', () => {
    expect(refusal(() => grantableScopes(undefined, holding('keeper')))).toMatchObject({
      code: CLIENTS_ERRORS.scope_not_held.code,
      message: expect.stringContaining('toys:read, toys:write'),
    });
  });

  it('are never more than the operator holds, whatever it holds and asks for', () => {
    const names = declaredScopes().map(({ name }) => name);
    fc.assert(
      fc.property(
        fc.subarray(names),
        fc.option(fc.subarray(names, { minLength: 1 }), { nil: undefined }),
        (held, wanted) => {
          try {
            expect(held).toEqual(expect.arrayContaining(grantableScopes(wanted, holding(...held))));
          } catch (error) {
            expect(error).toMatchObject({ code: 'scope_not_held' });
            expect((wanted ?? names).some((scope) => !held.includes(scope))).toBe(true);
          }
        },
      ),
    );
  });

  it.each([
    ['none', [], ['required: A key needs at least one scope.']],
    [
      'unknown',
      ['toys:reed', 'toys:read', 'cats'],
      [
        expect.stringMatching(
          /^unknown_scope: There is no scope "toys:reed"; there are keeper, .*toys:read, /,
        ),
        expect.stringMatching(/^unknown_scope: There is no scope "cats"/),
      ],
    ],
  ])('are refused when they are %s, each by name', (_, wanted, faults) => {
    const error = refusal(() => grantableScopes(wanted, SERVICE_ITSELF));
    expect(error).toMatchObject({ code: 'validation_failed' });
    const { faults: found } = error as { faults: { field: string; code: string; message: string }[] };
    expect(found.map(({ code, message }) => `${code}: ${message}`)).toEqual(faults);
    expect(new Set(found.map(({ field }) => field))).toEqual(new Set(['scopes']));
  });

  it('tells the scopes that are lacking, all of them and no others, for people and for programs', () => {
    expect(
      refusal(() => requireScopesHeld(['keeper', 'toys:read', 'toys:write'], holding('toys:read'))),
    ).toMatchObject({
      message: 'A key cannot hand on what it does not hold itself: keeper, toys:write.',
      headers: {
        'WWW-Authenticate': 'Bearer realm="petstore", error="insufficient_scope", scope="keeper toys:write"',
      },
    });
  });
});
