import { describe, expect, it } from 'vitest';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { KeyIssuingService } from '../../src/auth/clients/key-issuing.service.js';
import { declaredScopes, defineScopes } from '../../src/auth/scopes.js';
import { databaseOfTest } from '../support/service-process.js';
import { TestService } from '../kit/test-service.js';
import { openForTest } from '../support/opened.js';

/** What a key gets when none are named. */
const byDefault = () =>
  declaredScopes()
    .filter(({ grantedByDefault }) => grantedByDefault)
    .map(({ name }) => name);
const BEFORE = byDefault();

describe('keys from before a deployment with a new feature', () => {
  it('administer as before; only the command line grants what they lack', async () => {
    // A store that is deployed again with a feature more.
    const environment = { DATABASE_URL: await databaseOfTest() };
    const before = await openForTest({ environment });
    const [whole, narrow, bare, writer] = (await Promise.all(
      [['admin', ...BEFORE], ['admin', 'pets:read'], ['admin'], ['pets:write']].map((scopes) =>
        before.issueKey({ scopes }),
      ),
    )) as [Issued, Issued, Issued, Issued];
    await before.close();
    const { read } = defineScopes('shelves', { read: 'Read shelves.' });
    defineScopes('vault', { open: 'Open the vault.' }, { grantedByDefault: false });

    const after = await openForTest({ environment });
    const { clientId } = await after.issueKey({ plan: 'free' });
    const issue = async (key: string, scopes?: string[]) => {
      const json = { clientId, ...(scopes ? { scopes } : {}) };
      const { status, body } = await after.request('POST', '/admin/keys', { key, json });
      return status === 201 ? body.scopes : body.code;
    };
    // Without `scopes`: those granted by default that the key holds itself.
    expect(await issue(whole.key)).toEqual(BEFORE);
    expect(await issue(narrow.key)).toEqual(['pets:read']);
    // One that holds none of them has none to give.
    expect(await issue(bare.key)).toBe('scope_not_held');
    expect(await issue(bare.key, ['admin'])).toEqual(['admin']);
    // What is named and not held stays refused.
    expect(await issue(whole.key, [read.name])).toBe('scope_not_held');
    expect(await issue(narrow.key, BEFORE)).toBe('scope_not_held');
    expect(await issue(writer.key)).toBe('insufficient_scope');

    // The command line holds every scope. Rotation keeps what a key has, and is refused to one that has less.
    const issuing = after.app.get(KeyIssuingService);
    const { apiKey, secret } = await issuing.issue({ clientId }, SERVICE_ITSELF);
    expect(apiKey.scopes).toEqual(byDefault());
    const rotate = async (key: string, id: string) =>
      (await after.request('POST', `/admin/keys/${id}/rotate`, { key, json: {} })).body;
    expect((await rotate(whole.key, narrow.id)).scopes).toEqual(['admin', 'pets:read']);
    expect((await rotate(whole.key, apiKey.id)).code).toBe('scope_not_held');
    const renewed = await issuing.issue({ clientId, scopes: ['admin', ...byDefault()] }, SERVICE_ITSELF);
    expect((await rotate(renewed.secret, apiKey.id)).scopes).toEqual(byDefault());
    expect(await issue(renewed.secret)).toEqual(byDefault());
    expect(byDefault().filter((name) => !BEFORE.includes(name))).toEqual(['shelves:read']);
    expect(secret).not.toBe(renewed.secret);
  });
});

type Issued = Awaited<ReturnType<TestService['issueKey']>>;
