import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { DataSource } from 'typeorm';
import { WebhookDispatcher } from '../../src/webhooks/webhook-dispatcher.js';
import type { TestService } from '../kit/test-service.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { describeWith } from '../support/requirements.js';
import { WebhookReceiver, addEndpoint } from '../support/webhook-receiver.js';

describeWith('browser', 'what operators do in the console with webhooks and the audit trail', () => {
  let service: TestService;
  let receiver: WebhookReceiver;
  let tab: ConsoleBrowser;
  let key: string;
  let endpointId: string;

  beforeAll(async () => {
    const opened = await ConsoleBrowser.behindPrefix({
      environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
    });
    ({ service, tab } = opened);
    ({ key } = await service.issueKey({ scopes: ['admin', 'pets:read'] }));
    receiver = await WebhookReceiver.start((response) => response.writeHead(503).end());
    const { manager } = service.app.get(DataSource);
    ({ id: endpointId } = await addEndpoint(manager, { clientId: service.clientId, url: receiver.url }));
    await tab.signIn(key);
    await tab.page.getByRole('heading', { name: 'Overview' }).waitFor();
    return () => opened.close().then(() => receiver.stop());
  });

  const deliver = () => service.app.get(WebhookDispatcher).deliver();
  const fetchBody = async (path: string) => (await service.request('GET', path, { key })).body;
  const endpoint = () => fetchBody(`/admin/webhooks/${endpointId}`);

  it('lists the endpoints of all clients, and shows what one was sent, by the keyboard alone', async () => {
    await tab.page.getByRole('link', { name: 'Webhooks' }).focus();
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('link', { name: receiver.url }).focus();
    await tab.page.keyboard.press('Enter');
    await tab.page.getByText('Nothing yet.').waitFor();
    await tab.button('Send a test').focus();
    await tab.page.keyboard.press('Enter');
    await deliver();
    await tab.page.getByText('1 attempt. It responded with 503.').waitFor();
    await tab.page.locator('summary', { hasText: 'Message' }).focus();
    await tab.page.keyboard.press('Enter');
    await tab.page.getByText(`"data":{"endpointId":"${endpointId}"}`).waitFor();
    await tab.page.locator('.badge', { hasText: 'Failing' }).waitFor();
    await tab.page.getByText('It responded with 503.', { exact: true }).first().waitFor();
    expect(receiver.received).toHaveLength(1);
  });

  it('leads from the overview to the endpoints that fail', async () => {
    const seen = tab.page.url();
    await tab.show('#/');
    await tab.page.getByRole('link', { name: 'with a failing webhook' }).click();
    await tab.page.getByText('1 in all').waitFor();
    expect(await tab.page.getByLabel('State').inputValue()).toBe('failing');
    await tab.page.getByRole('link', { name: receiver.url }).waitFor();
    await tab.show(new URL(seen).hash);
  });

  it('retries a waiting message now, sends it again, and filters deliveries by state', async () => {
    await tab.page.getByText('Next attempt').first().waitFor();
    receiver.respond = (response) => response.writeHead(200).end('thank you');
    await tab.button(/^Retry now: webhook.test/).click();
    await deliver();
    await tab.page.getByText('2 attempts. It responded with 200.').waitFor();
    await tab.page.locator('.badge', { hasText: 'Enabled' }).waitFor();
    expect(receiver.received).toHaveLength(2);
    await tab.button(/^Send again: webhook.test/).click();
    await tab.page.getByText('The message will be sent now.').waitFor();
    await deliver();
    await expect.poll(() => tab.page.locator('.keys > .key').count()).toBe(2);
    await tab.page.locator('summary').last().click();
    await tab.page.getByText('thank you').waitFor();
    await tab.page.getByLabel('State').selectOption('failed');
    await tab.page.getByText('No delivery is in this state.').waitFor();
    await tab.page.getByLabel('State').selectOption('delivered');
    await expect.poll(() => tab.page.locator('.keys > .key').count()).toBe(2);
  });

  it('says of an attempt that is due that it is yet to come', async () => {
    for (const [inMs, text] of [
      [7_000, 'in a few seconds'],
      [-1_000, 'now'],
    ] as const) {
      await tab.page.route(`**/admin/webhooks/${endpointId}`, async (route) => {
        const response = await route.fetch();
        const nextAttemptAt = new Date(Date.now() + inMs).toISOString();
        await route.fulfill({ response, json: { ...(await response.json()), nextAttemptAt } });
      });
      await expect.poll(() => tab.page.getByText(text, { exact: true }).count()).toBeGreaterThan(0);
      await tab.page.unrouteAll({ behavior: 'wait' });
    }
  });

  it('disables an endpoint, and enables it', async () => {
    await tab.button('Disable').click();
    await tab.inDialog('Disable').click();
    await tab.page.getByText('Disabled by an operator').waitFor();
    expect(await endpoint()).toMatchObject({ enabled: false, disabledBecause: 'operator' });
    expect(await tab.button('Send a test').isDisabled()).toBe(true);
    await tab.button('Enable').click();
    await tab.inDialog('Enable').click();
    await expect.poll(endpoint).toMatchObject({ enabled: true });
  });

  it('shows a new secret once, which is stored before it disappears', async () => {
    await tab.button('Rotate the secret').click();
    await tab.dialog.getByLabel('Grace').selectOption('1h');
    await tab.inDialog('Rotate').click();
    expect(await tab.dialog.getByLabel('The new secret').inputValue()).toMatch(/^whsec_/);
    await tab.page.keyboard.press('Escape');
    await tab.dialog.getByText('Have you stored the secret?').waitFor();
    await tab.inDialog('Close anyway').click();
    await tab.page.getByText('Old secret signs until').waitFor();
  });

  it('makes an endpoint for a client, with the reason where it is refused, and deletes it', async () => {
    await tab.show(`#/clients/${service.clientId}`);
    await tab.button('New endpoint').click();
    await tab.dialog.getByLabel('URL').fill('http://192.168.0.1/');
    await tab.dialog.getByLabel('pets.created').check();
    await tab.inDialog('Create the endpoint').click();
    await tab.dialog.getByText('WEBHOOK_ALLOWED_NETWORKS').waitFor();
    await tab.dialog.getByLabel('URL').fill('https://shop.example.com/hooks');
    await tab.inDialog('Create the endpoint').click();
    await tab.stored('secret');
    await tab.page.getByRole('link', { name: 'https://shop.example.com/hooks' }).click();
    await tab.button('Delete').click();
    await tab.inDialog('Delete permanently').click();
    await tab.page.getByRole('heading', { name: 'Plan and usage' }).waitFor();
    await expect.poll(async () => (await fetchBody('/admin/webhooks')).length).toBe(1);
  });

  it('filters the audit trail, and exports what passes', async () => {
    await tab.show('#/audit');
    await tab.page.getByText('deleted the webhook endpoint').waitFor();
    await tab.page.getByLabel('Action').selectOption('webhook_endpoint.disabled');
    await expect.poll(() => tab.page.locator('.entry').count()).toBe(1);
    await tab.page
      .locator('.entry', {
        hasText:
          /The key pst_test_\w{4}… \(Test\) disabled the webhook endpoint http:\/\/127\.0\.0\.1:\d+ of Test/,
      })
      .waitFor();
    const download = tab.page.waitForEvent('download');
    await tab.button('Export as CSV').click();
    const text = await (await (await download).createReadStream()).toArray();
    expect(String(text).split('\r\n')).toEqual([
      expect.stringMatching(/^id,at,action,/),
      expect.stringContaining(',webhook_endpoint.disabled,key,'),
      '',
    ]);
    await tab.page.getByLabel('By').selectOption('command_line');
    await tab.page.getByText('There are no matching changes.').waitFor();
    await tab.page.getByLabel('By').selectOption('');
    await tab.page.getByLabel('First day (UTC)').fill('2090-01-01');
    await tab.page.getByText('There are no matching changes.').waitFor();
    // A browser that takes a fifth digit asks for a day that the service refuses.
    await tab.page.getByLabel('First day (UTC)').fill('');
    await tab.page.getByLabel('Last day (UTC)').focus();
    await tab.page.keyboard.type('1128202666');
    expect(await tab.page.getByLabel('Last day (UTC)').inputValue()).toMatch(/^\d{4}-/);
  });

  it('shows everything to a key with admin:read, and nothing that it cannot order', async () => {
    const { key: reader } = await service.issueKey({ scopes: ['admin:read'] });
    const other = await ConsoleBrowser.open(service.url);
    onTestFinished(() => other.close());
    await other.signIn(reader);
    await other.page.getByText('Read only').waitFor();
    for (const [hash, there] of [
      ['#/clients', 'Test'],
      [`#/clients/${service.clientId}`, 'Plan and usage'],
      [`#/webhooks/${endpointId}`, 'It responded with 200.'],
      ['#/audit', 'deleted the webhook endpoint'],
    ] as const) {
      await other.show(hash);
      await other.page.getByText(there).first().waitFor();
      const visible = await other.page.getByRole('button').allInnerTexts();
      expect([
        hash,
        visible.filter(
          (name) => !/^(?:Sign out|◐|Export|Export as CSV|Try now|.*Next →|.*Previous)$/.test(name),
        ),
      ]).toEqual([hash, []]);
    }
    expect([other.complaints, other.refusals]).toEqual([[], []]);
  });

  it('has no finding of axe, and does not scroll sideways, narrow and dark, wide and light', async () => {
    await tab.show('#/audit');
    await tab.check('audit');
    await tab.show('#/webhooks');
    await tab.page.getByRole('link', { name: receiver.url }).waitFor();
    await tab.check('webhooks');
    await tab.show(`#/webhooks/${endpointId}`);
    await tab.page.getByText('It responded with 200.').first().waitFor();
    await tab.page.locator('summary').first().click();
    await tab.page.locator('.payload pre').first().waitFor();
    await tab.check('endpoint');
    await tab.show(`#/clients/${service.clientId}`);
    await tab.button('New endpoint').click();
    await tab.dialog.waitFor();
    await tab.check('new endpoint');
    await tab.page.keyboard.press('Escape');
    expect(tab.faults).toEqual([]);
  });

  it('requests nothing from other origins, violates no rule of its policy, and logs no error', () => {
    expect([tab.foreign, tab.complaints]).toEqual([[], []]);
  });
});
