import type { Locator } from 'playwright-core';
import { DataSource } from 'typeorm';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { Client } from '../../src/auth/clients/client.entity.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import type { TestService } from '../kit/test-service.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { earnBan } from '../support/earn-ban.js';
import { PrefixProxy } from '../support/prefix-proxy.js';
import { describeWith } from '../support/requirements.js';

const SECRET = /^pst_test_\w{36}$/;
/** Names that would do harm as markup, or in a line with others. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  'متجر ‮ الحيوانات',
  '🐶'.repeat(120),
  'x'.repeat(255),
];

describeWith('browser', 'the console in a real browser', () => {
  let service: TestService;
  let proxy: PrefixProxy;
  let tab: ConsoleBrowser;
  let key: string;
  const named = new Map<string, string>();

  beforeAll(async () => {
    const opened = await ConsoleBrowser.behindPrefix({ plan: 'free' });
    ({ service, proxy, tab } = opened);
    ({ key } = await service.issueKey({ plan: 'business', scopes: ['admin', 'pets:read', 'pets:write'] }));
    for (const name of ['Corner Pets', 'Rotating', ...HOSTILE])
      named.set(
        name,
        (await service.app.get(ClientsService).create({ name, plan: 'pro' }, SERVICE_ITSELF)).id,
      );
    await earnBan(service);
    return opened.close;
  });

  const order = async (method: string, path: string, json?: unknown) =>
    (await service.request(method, path, { key, json })).body;
  const show = (name: string) => tab.show(`#/clients/${named.get(name)}`);
  const isFocused = async (one: Locator) => (await one.and(tab.page.locator(':focus')).count()) === 1;
  const keysOf = (name: string) => order('GET', `/admin/keys?client=${named.get(name)}`);

  it('refuses a key that does not administer, with the reason in words', async () => {
    await tab.signIn(service.key);
    await tab.page.getByText(/lacks the scope admin\. \(insufficient_scope\)|\(api_key_banned\)/).waitFor();
    await tab.signIn('pst_test_wrong');
    await tab.page.getByText('(invalid_api_key)').waitFor();
    expect(await tab.button('Sign out').isVisible()).toBe(false);
  });

  it('signs in with only the keyboard, and skips to the content', async () => {
    await tab.page.reload();
    await tab.page.getByLabel('Admin key').waitFor();
    await tab.page.keyboard.type(key);
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await tab.page.locator('.skip').focus();
    await tab.page.keyboard.press('Enter');
    expect(await isFocused(tab.page.locator('#main'))).toBe(true);
  });

  it('shows first what needs attention, with who is signed in, and leads to the clients behind each number', async () => {
    await tab.page.getByText('1 with a banned key').waitFor();
    await tab.page
      .getByText('Requests without a client’s key appear only in the log of the service')
      .waitFor();
    await tab.page.getByText(key.slice(0, 13)).waitFor();
    await tab.page.getByText('Test', { exact: true }).first().waitFor();
    const most = tab.page.locator('section', { hasText: 'Refused most in this or the previous hour' });
    await most.getByRole('link', { name: 'Test' }).waitFor();
    await tab.page.getByRole('link', { name: 'refused in this or the previous hour' }).click();
    await tab.page.getByText('1 in all').waitFor();
    expect(await tab.page.getByLabel('State').inputValue()).toBe('refused');
    expect(await tab.page.getByLabel('Order').locator(':checked').innerText()).toBe('Most first');
  });

  it('keeps filters in the URL, which another tab shows as well', async () => {
    await tab.page.getByLabel('State').selectOption('');
    await tab.page.getByLabel('Order').selectOption('-name');
    await tab.page.getByLabel('Plan').selectOption('pro');
    await tab.page.getByText(`${2 + HOSTILE.length} in all`).waitFor();
    expect(tab.page.url()).toMatch(/#\/clients\?plan=pro&sort=-name$/);
    await tab.page.reload();
    await tab.page.getByText(`${2 + HOSTILE.length} in all`).waitFor();
    expect(await tab.page.getByLabel('Plan').inputValue()).toBe('pro');
    await tab.show('#/clients');
    await expect.poll(() => tab.page.getByLabel('Plan').inputValue()).toBe('');
  });

  it('finds a client, a key and a request from every view, and never sends a whole key', async () => {
    const find = async (text: string) => {
      await tab.page.getByLabel('Find a client, a key or a request').fill(text);
      await tab.page.keyboard.press('Enter');
    };
    await find('corner');
    await tab.page.getByRole('heading', { name: 'Corner Pets' }).waitFor();
    await find(service.key);
    await tab.page.getByRole('heading', { name: 'Test', exact: true }).waitFor();
    expect(tab.page.url()).toContain(service.clientId);
    expect(tab.requested.filter((url) => url.includes(service.key))).toEqual([]);
    await find(`acme_live_${service.key.slice(9)}`);
    await tab.page.getByText('Results for acme_live_').waitFor();
    expect(tab.requested.filter((url) => url.includes(service.key.slice(13)))).toEqual([]);
    await find('nothing');
    await tab.page.getByText('Requests without a client’s key appear only in the log.').waitFor();
  });

  it('shows the key that was searched for before the others of its client', async () => {
    const { id: clientId } = await order('POST', '/admin/clients', { name: 'Many keys', plan: 'free' });
    const oldest = await order('POST', '/admin/keys', { clientId });
    for (let issued = 1; issued < 25; issued += 1) await order('POST', '/admin/keys', { clientId });
    await tab.page.getByLabel('Find a client, a key or a request').fill(oldest.prefix);
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('heading', { name: 'Many keys' }).waitFor();
    await tab.page.locator('.key .prefix').first().waitFor();
    expect(await tab.page.locator('.key .prefix').first().innerText()).toBe(`${oldest.prefix}…`);
    await order('DELETE', `/admin/clients/${clientId}`);
  });

  it('says that an address leads nowhere, or that a client no longer exists', async () => {
    await tab.show('#/nowhere');
    await tab.page.getByRole('heading', { name: 'No such page' }).waitFor();
    await tab.show('#/clients/00000000-0000-4000-8000-000000000000');
    await tab.page.getByRole('heading', { name: 'Not found' }).waitFor();
    expect(await tab.page.locator('main button').count()).toBe(0);
    await tab.page.locator('main').getByRole('link', { name: 'audit trail' }).waitFor();
    await tab.show('#/clients');
    await tab.page.getByRole('link', { name: 'Corner Pets' }).waitFor();
    expect(await tab.page.getByRole('heading', { name: 'Not found' }).count()).toBe(0);
  });

  it('keeps the key only in the tab, and never in a URL', async () => {
    expect(tab.requested.filter((url) => url.includes(key))).toEqual([]);
    expect(await tab.page.evaluate('[Object.values({ ...localStorage }), document.cookie]')).toEqual([
      [],
      '',
    ]);
    await tab.page.reload();
    await tab.page.getByRole('link', { name: 'Corner Pets' }).waitFor();
  });

  it('shows a name as text, whatever markup it contains', async () => {
    for (const name of HOSTILE) await tab.page.getByRole('link', { name, exact: true }).waitFor();
    expect(await tab.page.locator('main script, main img').count()).toBe(0);
  });

  it('shows what each client uses as it comes, and marks what is banned', async () => {
    const row = tab.page.locator('.row', { hasText: '1 key banned' });
    await row.getByText('60 of 60').waitFor();
    await row.getByText(/^\d+ refused in 60 min$/).waitFor();
    const other = await service.issueKey({ plan: 'pro' });
    await service.request('GET', '/v1/pets', { key: other.key });
    await tab.page.getByText('1 of 300').waitFor();
    expect(await tab.page.getByText('1 of 300').count()).toBe(1);
  });

  it('finds clients by a part of their name', async () => {
    await tab.page.getByLabel('Find by name').fill('corner');
    await expect.poll(() => tab.page.locator('.row').count()).toBe(1);
    await tab.page.getByLabel('Find by name').fill('nobody');
    await tab.page.getByText('No client name contains this text.').waitFor();
    await tab.page.getByLabel('Find by name').fill('');
  });

  it('pages through more clients than one page holds, behind the prefix, and back', async () => {
    const clients = service.app.get(ClientsService);
    for (let made = 0; made < 30; made += 1) {
      service.clock.advance(1);
      await clients.create({ name: `Many ${made}`, plan: 'free' }, SERVICE_ITSELF);
    }
    await tab.button('Next →').click();
    await tab.page.getByText('Page 2').waitFor();
    await tab.page.getByRole('link', { name: 'Many 29' }).waitFor();
    await tab.button('← Previous').click();
    await tab.page.getByRole('link', { name: 'Corner Pets' }).waitFor();
    expect(await tab.page.locator('.row').count()).toBe(25);
  });

  it('keeps the page of a list in its address: back from a client, forward, on reload, and in another tab', async () => {
    await tab.button('Next →').click();
    await tab.page.getByRole('link', { name: 'Many 29' }).click();
    await tab.page.getByRole('heading', { name: 'Many 29' }).waitFor();
    await tab.page.goBack();
    await tab.page.getByText('Page 2').waitFor();
    await tab.page.getByRole('link', { name: 'Many 29' }).waitFor();
    await tab.page.goBack();
    await tab.page.getByText('Page 1').waitFor();
    await tab.page.goForward();
    await tab.page.getByText('Page 2').waitFor();
    await tab.page.reload();
    await tab.page.getByRole('link', { name: 'Many 29' }).waitFor();
    const second = new URL(tab.page.url()).hash;
    await tab.button('← Previous').click();
    await tab.page.getByText('Page 1').waitFor();
    // An address that was not reached by turning pages does not know those before it.
    await tab.show('#/audit');
    await tab.show(second);
    await tab.button('← First page').click();
    await tab.page.getByRole('link', { name: 'Corner Pets' }).waitFor();
    await tab.show('#/clients?page=2.broken');
    await tab.page.getByText('Page 1').waitFor();
    expect(new URL(tab.page.url()).hash).toBe('#/clients');
  });

  it('starts at the first page again after another search, also from the second one', async () => {
    await tab.button('Next →').click();
    await tab.page.getByText('Page 2').waitFor();
    await tab.page.getByLabel('Find by name').fill('many');
    await tab.page.getByText('30 in all').waitFor();
    expect(new URL(tab.page.url()).hash).toBe('#/clients?name=many');
    await tab.button('Next →').click();
    await tab.page.getByText('Page 2').waitFor();
    await tab.page.getByLabel('Find by name').fill('');
    await tab.page.getByRole('link', { name: 'Corner Pets' }).waitFor();
  });

  it('changes the plan of a client', async () => {
    await tab.page.getByRole('link', { name: 'Corner Pets' }).click();
    await tab.button('Change plan').click();
    await tab.dialog.getByLabel('Plan').selectOption('enterprise');
    await tab.inDialog('Change the plan').click();
    await tab.dialog
      .getByText(/requires its own limits/)
      .first()
      .waitFor();
    expect(await isFocused(tab.dialog.getByLabel('Requests per minute'))).toBe(true);
    await tab.dialog.getByLabel('Requests per minute').fill('5000');
    await tab.dialog.getByLabel('Requests per UTC day').fill('600000');
    await tab.inDialog('Change the plan').click();
    await tab.closed();
    await tab.page.getByText('600,000', { exact: true }).waitFor();
    expect(await order('GET', `/admin/clients/${named.get('Corner Pets')}`)).toMatchObject({
      plan: 'enterprise',
      perMinute: 5_000,
    });
  });

  it('reports that another operator changed the plan in the meantime, and asks again', async () => {
    await tab.button('Change plan').click();
    await order('PATCH', `/admin/clients/${named.get('Corner Pets')}`, { plan: 'free' });
    await tab.dialog.getByLabel('Plan').selectOption('business');
    await tab.inDialog('Change the plan').click();
    await tab.dialog.getByText('Someone else has changed the plan. It is now free').waitFor();
    await tab.inDialog('Change the plan').click();
    await tab.closed();
    expect(await order('GET', `/admin/clients/${named.get('Corner Pets')}`)).toMatchObject({
      plan: 'business',
    });
  });

  it('offers the plans of the service, and no other in place of one that was removed', async () => {
    const { id } = await service.app
      .get(ClientsService)
      .create({ name: 'Old plan', plan: 'pro' }, SERVICE_ITSELF);
    await service.app.get(DataSource).getRepository(Client).update(id, { plan: 'gone' });
    await tab.show(`#/clients/${id}`);
    await tab.button('Change plan').click();
    const plan = tab.dialog.getByLabel('Plan');
    expect(await plan.inputValue()).toBe('gone');
    expect(await plan.locator('option').allInnerTexts()).toContain(
      'business: 1,000 a minute, 100,000 a UTC day',
    );
    await tab.inDialog('Change the plan').click();
    await tab.dialog.getByText('This must be one of free, pro, business, enterprise.').waitFor();
    await tab.page.keyboard.press('Escape');
    await show('Corner Pets');
    await tab.page.getByRole('heading', { name: 'Corner Pets' }).waitFor();
  });

  it('suspends and resumes a client; Escape leaves it unchanged, and returns the focus', async () => {
    await tab.button('Suspend').focus();
    await tab.page.keyboard.press('Enter');
    expect(await isFocused(tab.inDialog('Cancel'))).toBe(true);
    await tab.page.keyboard.press('Escape');
    await tab.closed();
    expect(await isFocused(tab.button('Suspend'))).toBe(true);
    await tab.button('Suspend').click();
    await tab.inDialog('Suspend').click();
    await tab.closed();
    await tab.page.locator('.badge.bad', { hasText: 'Suspended' }).waitFor();
    await tab.button('Resume').click();
    await tab.inDialog('Resume').click();
    await tab.closed();
    await tab.button('Suspend').waitFor();
    expect(await order('GET', `/admin/clients/${named.get('Corner Pets')}`)).toMatchObject({
      suspendedAt: null,
    });
  });

  it('reports that another operator was first', async () => {
    await tab.button('Suspend').click();
    await order('POST', `/admin/clients/${named.get('Corner Pets')}/suspend`);
    await tab.inDialog('Suspend').click();
    await tab.dialog.getByText('client_already_suspended').waitFor();
    expect(await tab.dialog.isVisible()).toBe(true);
    await tab.inDialog('Cancel').click();
    await order('POST', `/admin/clients/${named.get('Corner Pets')}/resume`);
  });

  it('issues a key and shows its secret once', async () => {
    await show('Rotating');
    await tab.page.getByText('No key yet.').waitFor();
    await tab.button('Issue a key').click();
    await tab.dialog.getByLabel('Label').fill('Web shop');
    await tab.dialog.getByLabel('pets:write').uncheck();
    await tab.inDialog('Issue the key').click();
    const secret = await tab.stored('key');
    expect(secret).toMatch(SECRET);
    expect((await service.request('GET', '/v1/pets', { key: secret })).status).toBe(200);
    await tab.page.locator('.key', { hasText: 'Web shop' }).waitFor();
    expect(await tab.page.content()).not.toContain(secret);
    expect(await keysOf('Rotating')).toMatchObject([{ label: 'Web shop', scopes: ['pets:read'] }]);
  });

  it('offers what the key may pass on: scopes that it holds, and expiries before its own', async () => {
    const other = await ConsoleBrowser.open(proxy.url, '/store/console');
    onTestFinished(() => other.close());
    // Not 30 days: within its first second the page, which knows the time by the second, could still offer those.
    const expires = 30 * 86_400_000 - 60_000;
    const narrow = await service.issueKey({ plan: 'business', scopes: ['admin'], expires });
    await other.signIn(narrow.key);
    await other.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await other.show('#/clients');
    await other.page.getByRole('link', { name: 'Corner Pets' }).click();
    await other.page.getByRole('button', { name: 'Issue a key' }).click();
    const form = other.page.getByRole('dialog');
    await form.getByText('can grant only scopes that it has').waitFor();
    for (const scope of ['account', 'pets:read', 'pets:write']) {
      const box = form.getByRole('checkbox', { name: scope });
      expect([scope, await box.isChecked(), await box.isDisabled()]).toEqual([scope, false, true]);
    }
    expect(await form.getByLabel('Lifetime').locator('option').allTextContents()).toEqual([
      expect.stringMatching(/^Until your key expires, /),
      '8 hours',
      '7 days',
    ]);
    await form.getByRole('checkbox', { name: /^admin / }).check();
    await form.getByRole('button', { name: 'Issue the key' }).click();
    expect(await form.getByLabel('The new key').inputValue()).toMatch(SECRET);
    const [issued] = await keysOf('Corner Pets');
    const { expiresAt, clientId } = await order('GET', `/admin/keys/${narrow.id}`);
    expect(issued).toMatchObject({ scopes: ['admin'], expiresAt });
    await order('POST', `/admin/keys/${issued.id}/revoke`);
    await order('DELETE', `/admin/clients/${clientId}`);
  });

  it('rotates a key with a grace, and revokes the old one', async () => {
    await tab.button(/^Rotate/).click();
    await tab.dialog.getByLabel('Grace').selectOption('1h');
    await tab.inDialog('Rotate').click();
    expect(await tab.stored('key')).toMatch(SECRET);
    const old = tab.page.locator('.key', { hasText: 'Rotated, expires' });
    await old.getByRole('button', { name: /^Revoke/ }).click();
    await tab.inDialog('Revoke permanently').click();
    await tab.closed();
    await tab.page.locator('.key', { hasText: 'Rotated, expired' }).waitFor();
    const [first, second] = (await keysOf('Rotating')).toSorted((one: { replacedBy: string | null }) =>
      one.replacedBy === null ? 1 : -1,
    );
    expect(first).toMatchObject({ replacedBy: second.id, revokedAt: expect.any(String) });
  });

  it('leaves the keyboard where it was: at the key that was revoked, and at the other button on the last page', async () => {
    const { id: clientId } = await order('POST', '/admin/clients', { name: 'By keyboard', plan: 'free' });
    for (let issued = 0; issued < 21; issued += 1) {
      service.clock.advance(1);
      await order('POST', '/admin/keys', { clientId, label: `Key ${issued}.` });
    }
    await tab.show(`#/clients/${clientId}`);
    const row = tab.page.locator('.key', { hasText: 'Key 20.' });
    await row.getByRole('button', { name: /^Revoke/ }).focus();
    await tab.page.keyboard.press('Enter');
    await tab.inDialog('Revoke permanently').click();
    await tab.closed();
    await row.getByText('Revoked', { exact: true }).first().waitFor();
    expect(await isFocused(row)).toBe(true);
    await tab.button('Next →').focus();
    await tab.page.keyboard.press('Enter');
    await tab.page.getByText('Page 2').waitFor();
    expect(await isFocused(tab.button('← Previous'))).toBe(true);
    await tab.page.reload();
    await tab.page.locator('.key', { hasText: 'Key 0.' }).waitFor();
    expect(await tab.page.locator('.key').count()).toBe(1);
    await order('DELETE', `/admin/clients/${clientId}`);
  });

  it('lifts a ban', async () => {
    await tab.show(`#/clients/${service.clientId}`);
    await tab.page.getByText('Banned until').waitFor();
    await tab.button(/^Lift the ban/).click();
    await tab.inDialog('Lift the ban').click();
    await tab.closed();
    await tab.page.getByText('Banned until').waitFor({ state: 'detached' });
    expect((await order('GET', `/admin/clients/${service.clientId}`)).bans).toEqual([]);
  });

  it('shows the numbers of a bar by the keyboard', async () => {
    const byMinute = tab.page.locator('section.plot', { hasText: 'By minute' });
    await byMinute.getByRole('slider').focus();
    await tab.page.keyboard.press('Home');
    await byMinute.getByText(/^\d\d:\d\d: 0 admitted, 0 refused$/).waitFor();
    await tab.page.keyboard.press('ArrowLeft');
    expect(await byMinute.locator('svg .picked').count()).toBe(1);
  });

  it('has the numbers of its plots as tables', async () => {
    const byDay = tab.page.locator('section.plot', { hasText: 'By day' });
    await byDay.getByText('Show as a table').click();
    expect(await byDay.locator('tbody tr').count()).toBe(30);
    expect(await byDay.locator('tbody tr').first().innerText()).toMatch(/\d{4}-\d\d-\d\d\s+60/);
    await byDay.getByLabel('Days to show').selectOption('90');
    await expect.poll(() => byDay.locator('tbody tr').count()).toBe(90);
    const byMinute = tab.page.locator('section.plot', { hasText: 'By minute' });
    await byMinute.getByText(/^60 admitted \(peak 60, current limit 60\), \d+ refused\.$/).waitFor();
    expect(await byMinute.locator('svg .bar.refused[height="0"]').count()).toBeLessThan(60);
    const byOperation = tab.page.locator('section.card', { hasText: 'By operation' });
    await byOperation.getByText('429 api_key_banned').first().waitFor();
    await tab.page.setViewportSize({ width: 390, height: 900 });
    const tooWide = `[...document.querySelectorAll('.table-room')].filter((one) => one.scrollWidth > one.clientWidth).length`;
    expect(await tab.page.evaluate(tooWide)).toBe(0);
    await tab.page.setViewportSize({ width: 1280, height: 900 });
  });

  it('finds a request that was refused by its id, and the last ones of a client', async () => {
    const { headers, body } = await service.request('GET', '/v1/pets?limit=x');
    const id = headers.get('x-request-id') ?? '';
    await tab.page.getByRole('link', { name: 'Last errors' }).click();
    const row = tab.page.locator('.entry', { has: tab.page.getByTitle(id) });
    await row.getByText(`${body.status} ${body.code}`).waitFor();
    await row.getByRole('link', { name: `${id.slice(0, 8)}…` }).click();
    await expect.poll(() => tab.page.getByLabel('Find by X-Request-Id').inputValue()).toBe(id);
    await tab.page.goBack();
    await tab.page.getByRole('link', { name: 'Show all' }).click();
    // What is typed before the view has changed is lost with the view of one client.
    await tab.page.getByText('Only requests of').waitFor({ state: 'detached' });
    await tab.page.getByLabel('Find by X-Request-Id').fill(id);
    await tab.page.keyboard.press('Enter');
    await expect.poll(() => tab.page.locator('.entry').count()).toBe(1);
    await tab.page.getByLabel('Find by X-Request-Id').fill('nothing');
    await tab.page.keyboard.press('Enter');
    await tab.page.getByText('There are no matching requests.').waitFor();
  });

  it('leads from the number of failures to only those', async () => {
    const today = tab.page.locator('section', { hasText: 'Today, ' });
    await tab.show('#/');
    await today.locator('div', { hasText: 'Other 4xx' }).last().getByRole('link').click();
    await tab.page.getByLabel('Outcome').waitFor();
    expect(await tab.page.getByLabel('Outcome').inputValue()).toBe('4xx');
    await tab.page.locator('.entry').first().waitFor();
    expect(await tab.page.locator('.entry', { hasText: '429' }).count()).toBe(0);
    await tab.page.getByLabel('Outcome').selectOption('5xx');
    await tab.page.getByText('There are no matching requests.').waitFor();
  });

  it('renames, exports and deletes a client, and erases its names from the audit trail', async () => {
    const { id } = await service.app
      .get(ClientsService)
      .create({ name: 'Erika', plan: 'free' }, SERVICE_ITSELF);
    await tab.show(`#/clients/${id}`);
    await tab.button('Rename').click();
    await tab.dialog.getByLabel('Name').fill('Erika M.');
    await tab.inDialog('Rename').click();
    await tab.page.getByRole('heading', { name: 'Erika M.' }).waitFor();
    const [file] = await Promise.all([tab.page.waitForEvent('download'), tab.button('Export').click()]);
    expect(file.suggestedFilename()).toBe(`client-${id}.json`);
    await tab.button('Delete this client').click();
    expect(await isFocused(tab.inDialog('Cancel'))).toBe(true);
    await tab.dialog.getByLabel(/^Also erase/).check();
    await tab.inDialog('Delete permanently').click();
    await tab.closed();
    await tab.page.getByRole('heading', { name: 'Clients' }).waitFor();
    const trail = JSON.stringify(await order('GET', `/admin/audit?client=${id}`));
    expect(trail).toContain('client.erased');
    expect(trail).not.toContain('Erika');
  });

  it('shows who changed what, with details on demand, for all clients or one', async () => {
    await tab.show('#/audit');
    const newest = tab.page.locator('.entry', { hasText: 'lifted the ban' }).first();
    await newest.getByText(`lifted the ban of the key ${service.key.slice(0, 13)}… of Test`).waitFor();
    await newest.getByText('Details').click();
    await newest.getByText('api_key.unbanned').waitFor();
    await newest.locator('time').first().focus();
    expect(await tab.page.getByRole('tooltip').innerText()).toMatch(/UTC$/);
    await tab.button('Next →').click();
    await tab.page.getByText('Page 2').waitFor();
    await show('Corner Pets');
    await tab.page.getByRole('link', { name: 'Audit trail' }).click();
    await tab.page.getByText('plan from free to business').waitFor();
    expect(await tab.page.locator('.entry', { hasText: 'Rotating' }).count()).toBe(0);
  });

  it('shows an exact instant within a narrow window', async () => {
    await tab.page.setViewportSize({ width: 390, height: 900 });
    await show('Rotating');
    for (const time of await tab.page.locator('.key time').all()) {
      await time.hover();
      const { x = -1, width = 0 } = (await tab.page.getByRole('tooltip').boundingBox()) ?? {};
      expect([x >= 0, x + width <= 390]).toEqual([true, true]);
    }
    await tab.page.setViewportSize({ width: 1280, height: 900 });
  });

  it('has no finding of axe, and does not scroll sideways, narrow and dark, wide and light', async () => {
    await tab.show('#/');
    await tab.page.getByText('with a banned key').waitFor();
    await tab.check('overview');
    await tab.show('#/search?text=e');
    await tab.page.locator('.entry').first().waitFor();
    await tab.check('search');
    await tab.show('#/clients');
    await tab.page.locator('.row').first().waitFor();
    await tab.check('clients');
    await show('Rotating');
    await tab.page.locator('.key').first().waitFor();
    await tab.check('client');
    await tab.button(/^Revoke/).click();
    await tab.check('dialog');
    await tab.page.keyboard.press('Escape');
    await tab.button('Issue a key').click();
    await tab.dialog.waitFor();
    await tab.check('form');
    await tab.page.keyboard.press('Escape');
    await tab.show('#/audit');
    await tab.page.locator('.entry').first().waitFor();
    await tab.check('audit');
    await tab.show('#/requests');
    await tab.page.locator('.entry').first().waitFor();
    await tab.check('requests');
    await tab.button('Sign out').click();
    await tab.page.getByLabel('Admin key').waitFor();
    await tab.check('sign-in');
    expect(tab.faults).toEqual([]);
    await tab.signIn(key);
    await tab.button('Sign out').waitFor();
  });

  it('revokes the last admin key only by force, and then returns to the sign-in with the reason', async () => {
    const [client] = await order('GET', '/admin/clients?name=Other');
    await tab.show(`#/clients/${client.id}`);
    await tab.button(/^Revoke/).click();
    await tab.inDialog('Revoke permanently').click();
    await tab.dialog.getByText('last_key_with_scope').waitFor();
    await tab.dialog.getByLabel('Do it anyway').check();
    await tab.inDialog('Revoke permanently').click();
    await tab.page.getByText('(revoked_api_key)').waitFor();
    expect(await tab.page.evaluate('({ ...sessionStorage })')).toEqual({});
  });

  it('requests nothing from other origins, violates no rule of its policy, and logs no error', () => {
    expect([tab.foreign, tab.complaints]).toEqual([[], []]);
  });
});
