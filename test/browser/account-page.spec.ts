import { beforeAll, expect, it, onTestFinished } from 'vitest';
import type { TestService } from '../kit/test-service.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { PrefixProxy } from '../support/prefix-proxy.js';
import { describeWith } from '../support/requirements.js';
import { openForTest } from '../support/opened.js';

describeWith('browser', 'the page of a key holder', () => {
  let service: TestService;
  let proxy: PrefixProxy;
  let tab: ConsoleBrowser;
  let key: string;

  beforeAll(async () => {
    const opened = await ConsoleBrowser.behindPrefix({ plan: 'pro' }, '/account');
    ({ service, proxy, tab } = opened);
    ({ key } = await service.issueKey({ scopes: ['account', 'pets:read'] }));
    return opened.close;
  });

  const signIn = async (secret: string, page = tab.page) => {
    await page.getByLabel('API key').fill(secret);
    await page.keyboard.press('Enter');
  };
  it('exists for a browser at /account, and JSON for programs', async () => {
    expect(tab.page.url()).toBe(`${proxy.url}/store/account/`);
    expect(await tab.page.title()).toBe('Sign in · Account');
    const { status, body } = await service.request('GET', '/account');
    expect([status, body.client.name]).toEqual([200, 'Test']);
    const refused = await fetch(`${service.url}/account`);
    expect([refused.status, await refused.json()]).toMatchObject([401, { code: 'missing_api_key' }]);
    const { headers } = await fetch(`${service.url}/account/`);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*trusted-types 'none'$/);
  });

  it('signs in with only the keyboard, and shows plan, use and plots', async () => {
    await signIn('pst_test_wrong');
    await tab.page.getByText('(invalid_api_key)').waitFor();
    await tab.page.getByLabel('API key').focus();
    await signIn(key);
    await tab.page.getByRole('heading', { name: 'Test' }).waitFor();
    await service.request('GET', '/v1/pets');
    await tab.page.getByText('1 of 300', { exact: true }).waitFor();
    for (const name of ['By minute', 'By day', 'Keys', 'Webhooks'])
      await tab.page.getByRole('heading', { name, exact: true }).waitFor();
    expect(await tab.page.getByRole('link', { name: 'Error codes' }).getAttribute('href')).toBe(
      '../docs/errors',
    );
    expect(await tab.page.evaluate('[Object.values({ ...localStorage }), document.cookie]')).toEqual([
      [],
      '',
    ]);
  });

  it('issues a key with scopes that its own hands on, and rotates it', async () => {
    await tab.button('Issue a key').click();
    expect(await tab.dialog.getByRole('checkbox').count()).toBe(2);
    await tab.dialog.getByLabel('Label').fill('Till');
    await tab.inDialog('Issue the key').click();
    expect((await service.request('GET', '/v1/pets', { key: await tab.stored('key') })).status).toBe(200);
    const till = tab.page.locator('.key', { hasText: 'Till' });
    await till.getByRole('button', { name: /^Rotate/ }).click();
    await tab.inDialog('Rotate').click();
    await tab.stored('key');
    await tab.page.locator('.key', { hasText: 'Rotated, expires' }).waitFor();
  });

  it('creates its own webhook endpoint, tests it and disables it', async () => {
    await tab.button('New endpoint').click();
    await tab.dialog.getByLabel('URL').fill('https://shop.example.com/hooks');
    await tab.dialog.getByLabel('pets.created').check();
    await tab.inDialog('Create the endpoint').click();
    expect(await tab.stored('secret')).toMatch(/^whsec_/);
    await tab.page.getByRole('link', { name: 'https://shop.example.com/hooks' }).click();
    await tab.button('Send a test').click();
    await tab.page.locator('.keys .prefix', { hasText: 'webhook.test' }).waitFor();
    await tab.button('Disable').click();
    await tab.inDialog('Disable').click();
    await tab.page.getByText('Disabled by its owner').waitFor();
    await tab.page.getByRole('link', { name: '← Your account' }).click();
    await tab.page.getByRole('heading', { name: 'Plan and usage' }).waitFor();
  });

  it('shows its last errors, which no page of another client shows', async () => {
    await service.request('GET', '/v1/pets/77');
    const other = await service.issueKey({ plan: 'pro' });
    await service.request('GET', '/v1/pets/78', { key: other.key });
    await tab.page.getByRole('link', { name: 'Last errors' }).click();
    await tab.page.getByText('404 pet_not_found').waitFor();
    expect(await tab.page.getByText('404 pet_not_found').count()).toBe(1);
    await tab.page.getByRole('link', { name: 'Account', exact: true }).click();
    await tab.page.getByRole('heading', { name: 'Plan and usage' }).waitFor();
  });

  it('shows plan and use to a key without the scope account, and says what it lacks', async () => {
    const other = await ConsoleBrowser.open(service.url, '/account');
    onTestFinished(() => other.close());
    await signIn(service.key, other.page);
    await other.page
      .getByText('To manage keys and webhooks, sign in with a key that has the scope account.')
      .waitFor();
    await other.page.getByRole('heading', { name: 'Plan and usage' }).waitFor();
    expect(await other.page.getByRole('heading', { name: 'Keys' }).isVisible()).toBe(false);
    expect([other.complaints, other.refusals]).toEqual([[], []]);
  });

  it('has no finding of axe, and does not scroll sideways, narrow and dark, wide and light', async () => {
    await tab.check('account');
    await tab.button('Issue a key').click();
    await tab.dialog.waitFor();
    await tab.check('issue');
    await tab.page.keyboard.press('Escape');
    await tab.button('Sign out').click();
    await tab.page.getByLabel('API key').waitFor();
    await tab.check('sign-in');
    expect(tab.faults).toEqual([]);
  });

  it('exists when the console is off', async () => {
    const off = await openForTest({ environment: { CONSOLE: 'off', ADMIN_ON: 'off' } });
    const page = await fetch(`${off.url}/account`, { headers: { accept: 'text/html' }, redirect: 'follow' });
    expect([page.status, page.url]).toEqual([200, `${off.url}/account/`]);
    expect((await fetch(`${off.url}/account/console.js`)).status).toBe(200);
    expect((await fetch(`${off.url}/console/`)).status).toBe(404);
  });

  it('requests nothing from other origins, violates no rule of its policy, and logs no error', () => {
    expect([tab.foreign, tab.complaints]).toEqual([[], []]);
  });
});
