import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { KeyIssuingService } from '../../src/auth/clients/key-issuing.service.js';
import type { TestService } from '../kit/test-service.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { earnBan } from '../support/earn-ban.js';
import { gate } from '../support/gate.js';
import { PrefixProxy } from '../support/prefix-proxy.js';
import { describeWith } from '../support/requirements.js';

/** What a proxy in front may answer in the service's place, or the service for a reason that passes. */
const PASSING: readonly (readonly [string, number, string, string])[] = [
  ['503 of a proxy', 503, 'text/html', '<p>Not here'],
  ['500 of the service', 500, 'application/json', errorBody(500, 'internal_error')],
  ['404 of an unknown route', 404, 'application/json', errorBody(404, 'route_not_found')],
  ['404 of a proxy that has a code', 404, 'application/json', '{"code":"client_not_found"}'],
  ['401 of a proxy', 401, 'text/html', '<p>Sign in'],
  ['200 with a page of a proxy', 200, 'text/html', '<p>Sign in'],
];

function errorBody(status: number, code: string): string {
  return JSON.stringify({ code, message: 'This is why.', status });
}

describeWith('browser', 'the console when something goes wrong', () => {
  let service: TestService;
  let proxy: PrefixProxy;
  let tab: ConsoleBrowser;
  let operators: string;
  let key: string;
  const named = new Map<string, string>();

  beforeAll(async () => {
    const opened = await ConsoleBrowser.behindPrefix({ plan: 'free' });
    ({ service, proxy, tab } = opened);
    const clients = service.app.get(ClientsService);
    const make = async (name: string, plan: 'business' | 'pro' = 'pro') => {
      service.clock.advance(1);
      const { id } = await clients.create({ name, plan }, SERVICE_ITSELF);
      named.set(name, id);
      return id;
    };
    operators = await make('Operators', 'business');
    for (const name of ['Corner Pets', 'Busy']) await make(name);
    ({ key } = await issued(operators, ['admin', 'account', 'pets:read', 'pets:write']));
    // Minutes of the page pass when a test says so.
    await tab.page.clock.install();
    return opened.close;
  });

  beforeEach(async () => {
    proxy.cutsBodies = false;
    await tab.page.unrouteAll({ behavior: 'ignoreErrors' });
    await tab.page.goto(`${proxy.url}/store/console/#/clients`);
    await tab.page.reload();
    await tab.page.locator('#key, .row').first().waitFor();
    if (await tab.page.getByLabel('Admin key').isVisible()) await tab.signIn(key);
    await tab.page.locator('.row').first().waitFor();
  });

  const issued = async (clientId: string, scopes: string[], label?: string) => {
    service.clock.advance(1);
    const { secret, apiKey } = await service.app
      .get(KeyIssuingService)
      .issue({ clientId, scopes, ...(label === undefined ? {} : { label }) }, SERVICE_ITSELF);
    return { key: secret, id: apiKey.id, prefix: apiKey.prefix };
  };
  const pollingError = () => tab.page.locator('#polling-error');
  const heading = (name: string) => tab.page.getByRole('heading', { name, exact: true });
  const show = async (name: string) => {
    await tab.show(`#/clients/${named.get(name)}`);
    await heading(name).waitFor();
    await tab.page.getByRole('button', { name: 'Issue a key', disabled: false }).waitFor();
  };
  const order = async (method: string, path: string, json?: unknown, by = key) =>
    (await service.request(method, path, { key: by, json })).body;
  const requestCount = (part = '/admin/') => tab.requested.filter((url) => url.includes(part)).length;
  const showPage = () => tab.page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
  const pass = (seconds: number) => tab.page.clock.runFor(seconds * 1_000);
  const response = (
    pattern: string,
    status: number,
    contentType: string,
    body: string,
    headers: Record<string, string> = {},
  ) => tab.page.route(pattern, (route) => route.fulfill({ status, contentType, body, headers }));
  const refuseForAMinute = (pattern: string) =>
    response(pattern, 429, 'application/json', errorBody(429, 'rate_limit_exceeded'), {
      'retry-after': '60',
    });
  /** Holds requests to these addresses back until `goOn`. */
  const hold = async (pattern: string) => {
    const [reached, goOn] = [gate(), gate()];
    await tab.page.route(pattern, async (route) => {
      reached.open();
      await goOn.opened;
      await route.continue();
    });
    return { reached: () => reached.opened, goOn: goOn.open };
  };

  describe('a secret', () => {
    it('stays on show when the key of the tab ended by it, and the tab goes on with the new key', async () => {
      const mine = await issued(operators, ['admin', 'pets:read', 'pets:write']);
      await tab.button('Sign out').click();
      await tab.signIn(mine.key);
      await show('Operators');
      await tab.button(`Rotate ${mine.prefix}`).click();
      await tab.dialog.getByLabel('Grace').selectOption('0');
      await tab.inDialog('Rotate').click();
      const secret = await tab.dialog.getByLabel('The new key').inputValue();
      await showPage();
      await pass(20);
      await tab.dialog.getByText('This tab continues with the new key').waitFor();
      expect(await tab.stored('key')).toBe(secret);
      await tab.page.locator('.key', { hasText: secret.slice(0, 13) }).waitFor();
      await tab.page.locator('.key', { hasText: 'Rotated, expired' }).waitFor();
      await tab.page.reload();
      await heading('Operators').waitFor();
    });

    it('is not thrown away by Escape, nor by a click while it was not copied', async () => {
      await show('Corner Pets');
      await tab.button('Issue a key').click();
      await tab.inDialog('Issue the key').click();
      await tab.dialog.getByLabel('The new key').waitFor();
      for (let pressed = 0; pressed < 3; pressed += 1) await tab.page.keyboard.press('Escape');
      await tab.inDialog('Go back').click();
      await tab.inDialog('I have stored it').dblclick();
      expect(await tab.dialog.getByLabel('The new key').isVisible()).toBe(true);
      await tab.inDialog('Go back').click();
      await tab.dialog.getByLabel('The new key').press('Control+a');
      await tab.dialog.getByLabel('The new key').press('Control+c');
      await tab.inDialog('I have stored it').click();
      await tab.closed();
    });

    it('is shown although Escape was pressed while it was on its way', async () => {
      await show('Corner Pets');
      await tab.button('Issue a key').click();
      const post = await hold('**/admin/keys');
      await tab.inDialog('Issue the key').click();
      await post.reached();
      for (let pressed = 0; pressed < 3; pressed += 1) await tab.page.keyboard.press('Escape');
      expect(await tab.inDialog('Cancel').isDisabled()).toBe(true);
      expect(await tab.inDialog('Issue the key').isDisabled()).toBe(true);
      post.goOn();
      expect(await tab.dialog.getByLabel('The new key').inputValue()).toMatch(/^pst_test_/);
    });

    it('that may have been made without a response is reported, and its key is in the list', async () => {
      await show('Corner Pets');
      await tab.button('Issue a key').click();
      await tab.dialog.getByLabel('Label').fill('Without an answer');
      await tab.page.route('**/admin/keys', async (route) => {
        await route.fetch();
        await route.abort();
      });
      await tab.inDialog('Issue the key').click();
      await tab.dialog.getByText('The key may have been created').waitFor();
      await tab.inDialog('Cancel').click();
      await tab.closed();
      await pass(5);
      await expect.poll(() => tab.page.locator('.key', { hasText: 'Without an answer' }).count()).toBe(1);
    });
  });

  describe('a pause that the service requests', () => {
    it('holds for typing, for coming back to the tab and for every view, and ends by itself', async () => {
      await refuseForAMinute('**/admin/**');
      await pass(5);
      await pollingError().getByText('This key has used up its quota.').waitFor();
      const before = requestCount();
      for (const letter of 'corner') {
        await tab.page.getByLabel('Find by name').press(letter);
        await pass(1);
      }
      for (let times = 0; times < 5; times += 1) await showPage();
      await tab.show('#/audit');
      await heading('Audit trail').waitFor();
      await pollingError().getByText('This key has used up its quota.').waitFor();
      await tab.show(`#/clients/${named.get('Corner Pets')}`);
      await tab.show('#/clients?name=corner');
      await heading('Clients').waitFor();
      await pass(30);
      expect(requestCount() - before).toBe(0);
      await tab.page.unrouteAll();
      await pass(40);
      await expect.poll(() => tab.page.locator('.row').count()).toBe(1);
      expect(await pollingError().innerText()).toBe('');
    });

    it('is broken by "Try now" once in a while', async () => {
      await refuseForAMinute('**/admin/**');
      await pass(5);
      await tab.button('Try now').waitFor();
      const before = requestCount();
      for (let times = 0; times < 5; times += 1) {
        await tab.button('Try now').click();
        await pollingError().getByText('Retrying in').waitFor();
      }
      await expect.poll(() => requestCount() - before).toBe(1);
      await tab.page.unrouteAll();
      await pass(31);
      await tab.button('Try now').click();
      await expect.poll(() => pollingError().innerText()).toBe('');
    });

    it('also starts after a refused change, whose dialog shows the error', async () => {
      await show('Corner Pets');
      await tab.button('Suspend').click();
      await refuseForAMinute('**/suspend');
      await tab.inDialog('Suspend').click();
      await tab.dialog.getByText('rate_limit_exceeded').waitFor();
      await tab.inDialog('Cancel').click();
      const before = requestCount();
      await pass(30);
      expect(requestCount() - before).toBe(0);
      await pollingError().getByText('This key has used up its quota.').waitFor();
    });
  });

  describe('an invalid response', () => {
    it('is reported when it ends in its body, and requested again', async () => {
      await show('Corner Pets');
      proxy.cutsBodies = true;
      await pass(5);
      await pollingError().getByText('The service is unavailable.').waitFor();
      proxy.cutsBodies = false;
      await pass(31);
      await expect.poll(() => pollingError().innerText()).toBe('');
    });

    it('is reported when it has another shape, and requested again', async () => {
      await response('**/admin/usage*', 200, 'application/json', '{"hello":"world"}');
      await pass(5);
      await pollingError().getByText('A proxy responds instead of the service').waitFor();
      await tab.page.unrouteAll();
      await pass(31);
      await expect.poll(() => pollingError().innerText()).toBe('');
    });

    it('passes when it is of a proxy, or of a service that fails for a while', async () => {
      await show('Corner Pets');
      for (const [what, status, type, body] of PASSING) {
        await response('**/admin/clients/*', status, type, body);
        await pass(31);
        await tab.button('Try now').waitFor();
        const shown = [await heading('Corner Pets').isVisible(), await heading('Keys').isVisible()];
        expect([what, ...shown]).toEqual([what, true, true]);
        await tab.page.unrouteAll();
        const before = requestCount('/admin/clients/');
        await pass(31);
        await expect.poll(() => pollingError().innerText()).toBe('');
        expect(requestCount('/admin/clients/')).toBeGreaterThan(before);
      }
    });

    it('is not one of a client that no longer exists: the page says so, and offers no actions', async () => {
      await show('Corner Pets');
      await response('**/admin/clients/*', 404, 'application/json', errorBody(404, 'client_not_found'));
      await pass(5);
      await heading('Not found').waitFor();
      expect(await tab.page.locator('main button').count()).toBe(0);
    });

    it.each([
      [401, 'expired_api_key'],
      [403, 'client_suspended'],
    ])('is not one of a key that no longer works: %i %s signs out', async (status, code) => {
      await response('**/admin/usage*', status, 'application/json', errorBody(status, code));
      await pass(5);
      await tab.page.getByText(`You were signed out. This is why. (${code})`).waitFor();
      expect(await tab.page.evaluate('({ ...sessionStorage })')).toEqual({});
    });
  });

  describe('the audit trail', () => {
    it('says that a client no longer exists', async () => {
      const { id } = await order('POST', '/admin/clients', { name: 'Passing', plan: 'free' });
      await order('PATCH', `/admin/clients/${id}`, { plan: 'pro' });
      await order('DELETE', `/admin/clients/${id}`);
      await tab.show('#/audit');
      await tab.page.locator('.entry', { hasText: `changed the client ${id} (deleted)` }).waitFor();
      const deleted = tab.page.locator('.entry', { hasText: 'deleted the client Passing' });
      expect(await deleted.locator('.sentence a').count()).toBe(0);
    });

    it('says whose key it was', async () => {
      const own = await issued(named.get('Busy') ?? '', ['account', 'pets:read'], 'Robot');
      await order('POST', '/account/keys', { label: 'Made by itself', scopes: ['pets:read'] }, own.key);
      await order('POST', `/admin/clients/${named.get('Corner Pets')}/suspend`);
      await order('POST', `/admin/clients/${named.get('Corner Pets')}/resume`);
      await tab.show('#/audit');
      const entries = tab.page.locator('.entry');
      await entries
        .nth(2)
        .getByText(/^The key Robot \(Busy\) issued the key pst_test_\w{4}… of Busy/)
        .waitFor();
      expect(await entries.nth(0).locator('.sentence').innerText()).toMatch(
        /^The key pst_test_\w{4}… \(Operators\) resumed the client Corner Pets/,
      );
    });
  });

  describe('a list', () => {
    it('turns one page for two quick clicks, and shows the rows of the page that it names', async () => {
      for (let made = 0; made < 60; made += 1)
        await service.app
          .get(ClientsService)
          .create({ name: `Many ${made}`, plan: 'free' }, SERVICE_ITSELF)
          .then(() => service.clock.advance(1));
      await pass(5);
      await tab.button('Next →').waitFor();
      const second = await hold('**/admin/usage*cursor*');
      await tab.button('Next →').dblclick();
      await second.reached();
      second.goOn();
      await tab.page.getByText('Page 2').waitFor();
      const names = await tab.page.locator('.row-name').allInnerTexts();
      await tab.button('Next →').click();
      await tab.page.getByText('Page 3').waitFor();
      expect(await tab.page.locator('.row-name').allInnerTexts()).not.toEqual(names);
    });

    it('drops the response of the previous page when another one is requested in the meantime', async () => {
      const names = await tab.page.locator('.row-name').allInnerTexts();
      const first = await hold('**/admin/usage*');
      await pass(5);
      await first.reached();
      await tab.button('Next →').click();
      first.goOn();
      await tab.page.getByText('Page 2').waitFor();
      expect(await tab.page.locator('.row-name').allInnerTexts()).not.toEqual(names);
    });

    it('of more than a hundred keys starts with the newest, and banned ones are above it', async () => {
      const first = await issued(service.clientId, ['pets:read'], 'The oldest');
      await earnBan(service, first.key);
      for (let made = 0; made < 101; made += 1) await issued(service.clientId, ['pets:read'], `Key ${made}`);
      named.set('Test', service.clientId);
      await show('Test');
      const keys = tab.page.locator('.key');
      await keys.first().getByText('The oldest').waitFor();
      await keys.first().getByText('Banned until').waitFor();
      await keys.nth(1).getByText('Key 100').waitFor();
      const labels: string[] = [];
      for (let page = 1; ; page += 1) {
        await tab.page.getByText(`Page ${page}`, { exact: true }).waitFor();
        labels.push(...(await tab.page.locator('.key .label').allInnerTexts()));
        if (await tab.button('Next →').isDisabled()) break;
        await tab.button('Next →').click();
      }
      expect(labels.filter((label) => label.startsWith('Key '))).toEqual(
        Array.from({ length: 101 }, (_, at) => `Key ${100 - at}`),
      );
      await tab.button('Issue a key').click();
      await tab.dialog.getByLabel('Label').fill('The newest');
      await tab.inDialog('Issue the key').click();
      await tab.stored('key');
      await keys.filter({ hasText: 'The newest' }).waitFor();
    });
  });

  it('issues no key before the client is known', async () => {
    const client = await hold('**/admin/clients/*');
    await tab.page.getByRole('link', { name: 'Corner Pets' }).click();
    const issue = tab.page.getByRole('button', { name: 'Issue a key' });
    await issue.waitFor();
    expect(await issue.isEnabled()).toBe(false);
    client.goOn();
    await issue.click();
    await tab.page.getByRole('dialog').getByText('Corner Pets').waitFor();
  });

  it('says why nothing opened when what a dialog needs was refused', async () => {
    await show('Corner Pets');
    await refuseForAMinute('**/admin/scopes');
    await tab.button('Issue a key').click();
    await expect.poll(() => tab.page.locator('#messages').innerText()).toContain('(rate_limit_exceeded)');
    expect(await tab.page.locator('dialog').count()).toBe(0);
  });

  it('changes a plan after a wrong number in a field that is hidden now', async () => {
    await show('Corner Pets');
    await tab.button('Change plan').click();
    await tab.dialog.getByLabel('Plan').selectOption('enterprise');
    await tab.dialog.getByLabel('Requests per minute').fill('0');
    await tab.dialog.getByLabel('Plan').selectOption('business');
    await tab.inDialog('Change the plan').click();
    await tab.closed();
    expect(await order('GET', `/admin/clients/${named.get('Corner Pets')}`)).toMatchObject({
      plan: 'business',
    });
  });
});
