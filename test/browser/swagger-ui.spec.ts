import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DemoData } from '../../src/database/demo-data.js';
import { launchChromium } from '../support/chromium.js';
import { describeWith } from '../support/requirements.js';
import { TestService } from '../kit/test-service.js';

describeWith('browser', 'the Swagger UI in a real browser', () => {
  let service: TestService;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const foreign: string[] = [];

  beforeAll(async () => {
    service = await TestService.open();
    await service.app.get(DemoData).add();
    browser = await launchChromium();
    page = await (await browser.newContext()).newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const { origin } = new URL(request.url());
      if (origin !== service.url && origin !== 'null') foreign.push(request.url());
    });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  const operation = (id: string) => page.locator(`#operations-Pets-${id}`);

  it('shows every operation of the document, getPet struck out', async () => {
    await page.goto(`${service.url}/docs`);
    await operation('listPets').waitFor();
    expect(await page.title()).toBe('Pet Store Service');
    const operations = Object.values(service.document.paths).flatMap((item) => Object.keys(item));
    expect(await page.locator('.opblock').count()).toBe(operations.length);
    expect(await operation('getPet').getAttribute('class')).toContain('opblock-deprecated');
  });

  it('takes the key through Authorize, and tries out a list', async () => {
    await page.click('.btn.authorize');
    await page.fill('.auth-container input', service.key);
    await page.click('.auth-btn-wrapper .authorize');
    await page.click('.auth-btn-wrapper .btn-done');
    await operation('listPets').locator('.opblock-summary-control').click();
    await operation('listPets').locator('.try-out__btn').click();
    await operation('listPets').locator('tr[data-param-name="limit"] input').fill('2');
    await operation('listPets').locator('.execute').click();
    const response = operation('listPets').locator('.live-responses-table .response');
    await response.waitFor();
    expect(await response.locator('.response-col_status').innerText()).toContain('200');
    expect(await response.locator('.response-col_description').innerText()).toMatch(
      /Biscuit[^]*x-ratelimit-remaining: 999/,
    );
  });

  it('tries out adding an animal', async () => {
    await operation('createPet').locator('.opblock-summary-control').click();
    await operation('createPet').locator('.try-out__btn').click();
    await operation('createPet').locator('textarea').fill('{"name":"From the docs","categoryId":4}');
    await operation('createPet').locator('.execute').click();
    const response = operation('createPet').locator('.live-responses-table .response');
    await response.waitFor();
    expect(await response.innerText()).toMatch(/201[^]*From the docs[^]*location: \/v1\/pets\/61/);
  });

  it('remembers the key after a reload', async () => {
    await page.reload();
    await operation('listPets').waitFor();
    await operation('listPets').locator('.opblock-summary-control').click();
    await operation('listPets').locator('.try-out__btn').click();
    await operation('listPets').locator('.execute').click();
    const response = operation('listPets').locator('.live-responses-table .response');
    await response.waitFor();
    expect(await response.locator('.response-col_status').innerText()).toContain('200');
  });

  it('shows the administration at /docs/admin, and tries out making a client', async () => {
    const { key } = await service.issueKey({ scopes: ['admin'] });
    await page.goto(`${service.url}/docs/admin`);
    const createClient = page.locator('#operations-Clients-createClient');
    await createClient.waitFor();
    expect(await page.title()).toBe('Pet Store Service administration');
    const operations = Object.values(service.adminDocument.paths).flatMap((item) => Object.keys(item));
    expect(await page.locator('.opblock').count()).toBe(operations.length);
    await page.click('.btn.authorize');
    if (await page.locator('.btn-done').isVisible()) {
      const logout = page.locator('.auth-btn-wrapper button', { hasText: 'Logout' });
      if (await logout.isVisible()) await logout.click();
    }
    await page.fill('.auth-container input', key);
    await page.click('.auth-btn-wrapper .authorize');
    await page.click('.auth-btn-wrapper .btn-done');
    await createClient.locator('.opblock-summary-control').click();
    await createClient.locator('.try-out__btn').click();
    await createClient.locator('textarea').fill('{"name":"From the docs","plan":"pro"}');
    await createClient.locator('.execute').click();
    const response = createClient.locator('.live-responses-table .response');
    await response.waitFor();
    expect(await response.innerText()).toMatch(/201[^]*From the docs[^]*location: \/admin\/clients\//);
  });

  it('works at /docs/ too', async () => {
    await page.goto(`${service.url}/docs/`);
    await operation('listPets').waitFor();
    const operations = Object.values(service.document.paths).flatMap((item) => Object.keys(item));
    expect(await page.locator('.opblock').count()).toBe(operations.length);
  });

  it('asks nobody else for anything, and breaks no rule of its strict policy', async () => {
    const { headers } = await fetch(`${service.url}/docs`);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    expect(foreign).toEqual([]);
    expect(complaints.join('\n')).toBe('');
  });
});
