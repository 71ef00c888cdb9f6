import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { DataSource } from 'typeorm';
import { WebhookDispatcher } from '../../src/webhooks/webhook-dispatcher.js';
import { TestService } from '../kit/test-service.js';
import { faultsInViews } from '../support/chromium.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { PrefixProxy } from '../support/prefix-proxy.js';
import { describeWith } from '../support/requirements.js';
import { WebhookReceiver, addEndpoint } from '../support/webhook-receiver.js';

describeWith('browser', 'what operators do in the console with webhooks and the audit trail', () => {
  let service: TestService;
  let proxy: PrefixProxy;
  let receiver: WebhookReceiver;
  let tab: ConsoleBrowser;
  let key: string;
  let endpointId: string;

  beforeAll(async () => {
    service = await TestService.open({
      at: new Date().toISOString(),
      environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
    });
    ({ key } = await service.issueKey({ scopes: ['admin', 'pets:read'] }));
    receiver = await WebhookReceiver.start((response) => response.writeHead(503).end());
    const { manager } = service.app.get(DataSource);
    ({ id: endpointId } = await addEndpoint(manager, { clientId: service.clientId, url: receiver.url }));
    proxy = await PrefixProxy.to(service.url, '/store');
    tab = await ConsoleBrowser.open(proxy.url, '/store/console');
    await tab.signIn(key);
    await tab.page.getByRole('heading', { name: 'Clients' }).waitFor();
  });
  afterAll(async () => {
    await tab?.close();
    await receiver?.stop();
    await proxy?.close();
    await service?.close();
  });

  const button = (name: string | RegExp) => tab.page.getByRole('button', { name });
  const dialog = () => tab.page.getByRole('dialog');
  const inDialog = (name: string | RegExp) => dialog().getByRole('button', { name });
  const deliver = () => service.app.get(WebhookDispatcher).deliver();
  const asked = async (path: string) => (await service.request('GET', path, { key })).body;
  const endpoint = () => asked(`/admin/webhooks/${endpointId}`);

  it('lists the endpoints of all clients, and shows what one was sent, by the keyboard alone', async () => {
    await tab.page.getByRole('link', { name: 'Webhooks' }).focus();
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('link', { name: receiver.url }).focus();
    await tab.page.keyboard.press('Enter');
    await tab.page.getByText('Nothing yet.').waitFor();
    await button('Send a test').focus();
    await tab.page.keyboard.press('Enter');
    await deliver();
    await tab.page.getByText('1 attempt. It responded 503.').waitFor();
    await tab.page.locator('summary', { hasText: 'Message' }).focus();
    await tab.page.keyboard.press('Enter');
    await tab.page.getByText(`"data":{"endpointId":"${endpointId}"}`).waitFor();
    await tab.page.locator('.badge', { hasText: 'Failing' }).waitFor();
    expect(receiver.received).toHaveLength(1);
  });

  it('sends a message again, and filters deliveries by state', async () => {
    await button(/^Send again: webhook.test/).click();
    await expect.poll(() => tab.page.locator('.keys > .key').count()).toBe(2);
    await tab.page.getByLabel('State').selectOption('delivered');
    await tab.page.getByText('Nothing yet.').waitFor();
    receiver.answer = (response) => response.writeHead(204).end();
    service.clock.advance(10_000);
    await deliver();
    await expect.poll(() => tab.page.locator('.keys > .key').count()).toBe(2);
  });

  it('disables an endpoint, and enables it', async () => {
    await button('Disable').click();
    await inDialog('Disable').click();
    await tab.page.getByText('Disabled by an operator').waitFor();
    expect(await endpoint()).toMatchObject({ enabled: false, disabledBecause: 'operator' });
    expect(await button('Send a test').isDisabled()).toBe(true);
    await button('Enable').click();
    await inDialog('Enable').click();
    await expect.poll(endpoint).toMatchObject({ enabled: true });
  });

  it('shows a new secret once, which is stored before it is gone', async () => {
    await button('Rotate the secret').click();
    await dialog().getByLabel('Grace').selectOption('1h');
    await inDialog('Rotate').click();
    expect(await dialog().getByLabel('The new secret').inputValue()).toMatch(/^whsec_/);
    await tab.page.keyboard.press('Escape');
    await dialog().getByText('Have you stored the secret?').waitFor();
    await inDialog('Close it for good').click();
    await tab.page.getByText('Old secret signs until').waitFor();
  });

  it('makes an endpoint for a client, with the reason where it is refused, and deletes it', async () => {
    await tab.show(`#/clients/${service.clientId}`);
    await button('New endpoint').click();
    await dialog().getByLabel('Address').fill('http://192.168.0.1/');
    await dialog().getByLabel('pets.created').check();
    await inDialog('Create the endpoint').click();
    await dialog().getByText('WEBHOOK_ALLOWED_NETWORKS').waitFor();
    await dialog().getByLabel('Address').fill('https://shop.example.com/hooks');
    await inDialog('Create the endpoint').click();
    await dialog().getByLabel('The new secret').waitFor();
    await inDialog('I have stored it').click();
    await inDialog('Close it for good').click();
    await tab.page.getByRole('link', { name: 'https://shop.example.com/hooks' }).click();
    await button('Delete').click();
    await inDialog('Delete for good').click();
    await tab.page.getByRole('heading', { name: 'Plan and use' }).waitFor();
    await expect.poll(async () => (await asked('/admin/webhooks')).length).toBe(1);
  });

  it('filters the audit trail, and exports what passes', async () => {
    await tab.show('#/audit');
    await tab.page.getByText('deleted a webhook endpoint of').waitFor();
    await tab.page.getByLabel('Action').selectOption('webhook_endpoint.disabled');
    await expect.poll(() => tab.page.locator('.entry').count()).toBe(1);
    await tab.page
      .locator('.entry', { hasText: /The key pst_test_\w{4}… \(Test\) disabled a webhook endpoint of Test/ })
      .waitFor();
    const download = tab.page.waitForEvent('download');
    await button('Export as CSV').click();
    const text = await (await (await download).createReadStream()).toArray();
    expect(String(text).split('\r\n')).toEqual([
      expect.stringMatching(/^id,at,action,/),
      expect.stringContaining(',webhook_endpoint.disabled,key,'),
      '',
    ]);
    await tab.page.getByLabel('By').selectOption('command_line');
    await tab.page.getByText('There is no such change.').waitFor();
    await tab.page.getByLabel('By').selectOption('');
    await tab.page.getByLabel('First day (UTC)').fill('2090-01-01');
    await tab.page.getByText('There is no such change.').waitFor();
  });

  it('shows everything to a key with admin:read, and nothing that it cannot order', async () => {
    const { key: reader } = await service.issueKey({ scopes: ['admin:read'] });
    const other = await ConsoleBrowser.open(service.url);
    onTestFinished(() => other.close());
    await other.signIn(reader);
    await other.page.getByText('Read only').waitFor();
    for (const [hash, there] of [
      ['#/clients', 'Test'],
      [`#/clients/${service.clientId}`, 'Plan and use'],
      [`#/webhooks/${endpointId}`, 'It responded 204.'],
      ['#/audit', 'deleted a webhook endpoint of'],
    ] as const) {
      await other.show(hash);
      await other.page.getByText(there).first().waitFor();
      const visible = await other.page.getByRole('button').allInnerTexts();
      expect([
        hash,
        visible.filter((name) => !/^(?:Sign out|Export as CSV|Try now|.*Next →|.*Previous)$/.test(name)),
      ]).toEqual([hash, []]);
    }
    expect(other.complaints).toEqual([]);
  });

  it('has no finding of axe, and does not scroll sideways, narrow and dark, wide and light', async () => {
    const faults: string[] = [];
    const look = async (view: string) => {
      const found = await faultsInViews(tab.page);
      faults.push(...found.map((fault) => `${view}: ${fault}`));
    };
    await tab.show('#/audit');
    await look('audit');
    await tab.show('#/webhooks');
    await tab.page.getByRole('link', { name: receiver.url }).waitFor();
    await look('webhooks');
    await tab.show(`#/webhooks/${endpointId}`);
    await tab.page.getByText('It responded 204.').first().waitFor();
    await tab.page.locator('summary').first().click();
    await tab.page.locator('.payload pre').waitFor();
    await look('endpoint');
    await tab.show(`#/clients/${service.clientId}`);
    await button('New endpoint').click();
    await dialog().waitFor();
    await look('new endpoint');
    await tab.page.keyboard.press('Escape');
    expect(faults).toEqual([]);
  });

  it('asks nobody else for anything, and breaks no rule of its policy', () => {
    expect(tab.foreign).toEqual([]);
    expect(
      tab.complaints.filter((text) => !text.startsWith('Failed to load resource: the server responded')),
    ).toEqual([]);
  });
});
