import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { DemoData } from '../../src/database/demo-data.js';
import { TestService } from '../kit/test-service.js';
import { faultsInViews, findingsOn, launchChromium } from '../support/chromium.js';
import { PrefixProxy } from '../support/prefix-proxy.js';
import { describeWith } from '../support/requirements.js';

const MAX_INT64 = '9223372036854775807';

/** Whether the ground of a page is dark. */
const isDark = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>(
    '/^rgb\\((?:\\d|[1-4]\\d), /.test(getComputedStyle(document.documentElement).backgroundColor)',
  );

/** The pages of the service for people, with what tells that one is complete. */
const PAGES = [
  ['/', 'h1'],
  ['/docs/admin', '.opblock'],
  ['/docs#/Pets/getPet', '#operations-Pets-getPet .refusal'],
  ['/docs/guides/using-the-api', '.prose h2'],
  ['/docs/errors#pet_not_found', '#pet_not_found'],
  ['/docs/search#q=pet', '.found li'],
  ['/nothing/here', 'h1'],
] as const;

describeWith('browser', 'the pages for people in a real browser', () => {
  let service: TestService;
  let proxy: PrefixProxy;
  /** Where the pages are: a prefix is in front of everything, so no address of theirs may start at the root. */
  let base: string;
  let browser: Browser;
  const complaints: string[] = [];
  const foreign: string[] = [];

  beforeAll(async () => {
    service = await TestService.open();
    await service.app.get(DemoData).add();
    proxy = await PrefixProxy.to(service.url, '/petstore');
    base = `${proxy.url}/petstore`;
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await proxy?.close();
    await service?.close();
  });

  async function open(path: string, more: { javaScriptEnabled?: boolean } = {}, from = base): Promise<Page> {
    const options = { viewport: { width: 1280, height: 900 }, colorScheme: 'light', ...more } as const;
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.on('console', (message) => {
      const isMissing = message.location().url.endsWith('/nothing/here');
      if (['error', 'warning'].includes(message.type()) && !isMissing)
        complaints.push(`${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const requested = new URL(request.url());
      if (![proxy.url, service.url, 'null'].includes(requested.origin)) foreign.push(request.url());
    });
    await page.goto(from + path);
    return page;
  }

  async function authorize(page: Page): Promise<void> {
    await page.locator('.btn.authorize').first().click();
    await page.getByRole('dialog').getByLabel('Value').fill(service.key);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Authorized').waitFor();
    await page.keyboard.press('Escape');
  }

  it.each(PAGES)('are read by everyone: %s', async (path, complete) => {
    const page = await open(path);
    await page.locator(complete).first().waitFor();
    expect(await faultsInViews(page)).toEqual([]);
    expect(await isDark(page)).toBe(false);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await isDark(page)).toBe(true);
  });

  it('the search finds operations, sections of the guide and errors by all words, and leads there', async () => {
    const page = await open('/docs/search');
    const found = page.locator('.found li:visible');
    const status = page.getByRole('status');
    const box = page.getByRole('searchbox');
    const all = await found.count();
    expect(all).toBeGreaterThan(60);
    await expect.poll(() => status.textContent()).toBe(`${all} of ${all}`);
    await page.keyboard.type('List ANIMALS listpets');
    await expect.poll(() => found.count()).toBe(1);
    expect(new URL(page.url()).hash).toBe('#q=List+ANIMALS+listpets');
    await found.getByRole('link').click();
    await page.locator('#operations-Pets-listPets.is-open').waitFor();
    for (const [sought, kind] of [
      ['pet_not_found animals ids', 'Error'],
      ['64-bit integers exact', 'Guide'],
    ] as const) {
      await page.goto(`${base}/docs/search#q=${encodeURIComponent(sought)}`);
      await page.reload();
      expect(await box.inputValue()).toBe(sought);
      await found.filter({ hasText: kind }).first().getByRole('link').click();
      const { hash } = new URL(page.url());
      await page.locator(hash).waitFor();
    }
    await page.goto(`${base}/docs/search#q=nothing-like-this`);
    await expect.poll(() => status.textContent()).toBe(`0 of ${all}`);
  });

  it('are read with a dialog, a response and refusals open', async () => {
    // The document has no address with the prefix: what is tried out is sent to the service itself.
    const page = await open('/docs#/Pets/createPet', {}, service.url);
    await page.setViewportSize({ width: 390, height: 900 });
    await page.reload();
    const operation = page.locator('#operations-Pets-createPet');
    await operation.locator('.refusal').first().waitFor();
    await page.locator('.btn.authorize').click();
    expect(await findingsOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await authorize(page);
    await operation.locator('.try-out__btn').click();
    await operation.locator('.execute').click();
    await operation.locator('.live-responses-table .response').waitFor();
    await operation.getByRole('button', { name: 'validation_failed' }).click();
    expect(await faultsInViews(page)).toEqual([]);
  });

  it('send and show every int64 exactly, as often as it is tried', async () => {
    const page = await open('/docs#/Pets/createPet', {}, service.url);
    const operation = page.locator('#operations-Pets-createPet');
    await authorize(page);
    await operation.locator('.try-out__btn').click();
    await operation.locator('textarea').fill(`{"name":"Big","categoryId":${MAX_INT64}}`);
    const ids: string[] = [];
    for (const attempt of [1, 2]) {
      const arrived = page.waitForResponse((response) => response.request().method() === 'POST');
      await operation.locator('.execute').click();
      const response = await arrived;
      expect([attempt, response.status()]).toEqual([attempt, 201]);
      const shown = operation.locator('.live-responses-table .highlight-code');
      const id = /"id":(\d+)/.exec(await response.text())?.[1] ?? '';
      await shown.getByText(id, { exact: true }).waitFor();
      expect(await shown.innerText()).toContain(`"categoryId": ${MAX_INT64}`);
      ids.push(id);
    }
    expect(new Set(ids).size).toBe(2);
  });

  it('show every operation of a document, also with a trailing slash, and link to the other documents', async () => {
    const page = await open('/docs/');
    await page.locator('.opblock').first().waitFor();
    expect(await page.title()).toBe(service.document.info.title);
    const count = (paths: object) => Object.values(paths).flatMap((item: object) => Object.keys(item)).length;
    expect(await page.locator('.opblock').count()).toBe(count(service.document.paths));
    await page
      .getByRole('navigation', { name: 'Documents' })
      .getByRole('link', { name: 'Administration' })
      .click();
    await page.locator('#operations-Clients-createClient').waitFor();
    expect(await page.locator('.opblock').count()).toBe(count(service.adminDocument.paths));
    await page.getByRole('banner').getByRole('link', { name: 'Errors' }).click();
    await page.getByRole('link', { name: 'pet_not_found' }).first().click();
    expect(new URL(page.url()).hash).toBe('#pet_not_found');
  });

  it('prompt for the key in a dialog that keeps the focus, hides the key, and returns the focus', async () => {
    const page = await open('/docs');
    // The dialog has a button of this class of its own.
    const button = page.locator('.btn.authorize:not(.modal-btn)');
    await button.click();
    const dialog = page.getByRole('dialog', { name: 'Authorize' });
    const field = dialog.getByLabel('Value');
    const isInside = 'document.activeElement === document.body || !!document.activeElement.closest("dialog")';
    expect(await field.evaluate((element) => element.matches(':focus'))).toBe(true);
    for (let presses = 0; presses < 8; presses += 1) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate(isInside)).toBe(true);
    }
    expect(await field.getAttribute('type')).toBe('password');
    await dialog.getByRole('button', { name: 'Show' }).click();
    expect(await field.getAttribute('type')).toBe('text');
    expect(await page.getByRole('main').count()).toBe(1);
    for (const close of [
      () => dialog.getByRole('button', { name: 'Close' }).click(),
      () => page.keyboard.press('Escape'),
    ]) {
      await close();
      // By its element: one that is closed has no role any more, before the page takes it away.
      await page.locator('dialog').waitFor({ state: 'detached' });
      expect(await button.evaluate((element) => element.matches(':focus'))).toBe(true);
      await button.click();
      await dialog.waitFor();
    }
  });

  it('keep the key in the tab, over a reload, and nowhere else', async () => {
    const page = await open('/docs', {}, service.url);
    await authorize(page);
    await page.goto(`${service.url}/docs/admin`);
    await page.locator('.btn.authorize.locked').waitFor();
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(service.key);
    const other = await page.context().newPage();
    await other.goto(`${service.url}/docs`);
    await other.locator('.btn.authorize.unlocked').waitFor();
    await other.close();
    await page.goto(`${service.url}/docs#/Pets/listPets`);
    const operation = page.locator('#operations-Pets-listPets');
    await operation.locator('.try-out__btn').click();
    await operation.locator('tr[data-param-name="limit"] input').fill('2');
    await operation.locator('.execute').click();
    const response = operation.locator('.live-responses-table .response');
    await response.waitFor();
    expect(await response.innerText()).toMatch(/200[^]*Biscuit[^]*x-ratelimit-remaining: \d+/);
  });

  it('copy what is to be pasted, with the address that the page was reached by', async () => {
    const page = await open('/docs/guides/using-the-api');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`export API=${base}/v1`);
    for (const path of ['/', '/docs/guides/using-the-api', '/docs/errors']) {
      await page.goto(base + path);
      const copies = await page.getByRole('button', { name: 'Copy' }).count();
      expect([path, copies]).toEqual([path, await page.locator('pre').count()]);
    }
  });

  it('have a way past the header, by keyboard', async () => {
    const page = await open('/docs/errors');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
  });

  it('are complete without a script, but for the Swagger UI, which says so', async () => {
    const page = await open('/', { javaScriptEnabled: false });
    for (const [path, text] of [
      ['/', 'curl -H'],
      ['/docs/guides/using-the-api', 'Retry safely'],
      ['/docs/errors', 'rate_limit_exceeded'],
      ['/docs', 'This page needs JavaScript'],
    ] as const) {
      await page.goto(base + path);
      expect(await page.locator('body').innerText()).toContain(text);
    }
  });

  it('open the deprecated operation by the link in its responses, with its end and successor', async () => {
    const { headers } = await service.request('GET', '/v1/pets/1');
    const [, link = ''] = /<([^>]+)>; rel="deprecation"/.exec(headers.get('link') ?? '') ?? [];
    const page = await open(link);
    const operation = page.locator('#operations-Pets-getPet');
    await operation.locator('.refusal').first().waitFor();
    expect(await operation.getAttribute('class')).toContain('opblock-deprecated');
    const text = await operation.innerText();
    expect(text).toContain('deprecated, will be removed on 5 December 2030');
    expect(text).toContain('GET /v1/pets?status=available');
    const top = () => operation.boundingBox().then((box) => box?.y);
    await expect.poll(top).toBeLessThan(300);
  });

  it('link refusals by code and prose by section, each open when linked to', async () => {
    const page = await open('/docs#/Pets/listPets');
    const operation = page.locator('#operations-Pets-listPets');
    await operation.locator('.refusal').first().waitFor();
    expect((await operation.boundingBox())?.height).toBeLessThan(3_000);
    const refusal = operation.locator('.refusal', { hasText: 'rate_limit_exceeded' }).getByRole('button');
    await refusal.focus();
    await page.keyboard.press('Enter');
    expect(await refusal.getAttribute('aria-expanded')).toBe('true');
    expect(await operation.innerText()).toContain('Retry-After');
    const section = page.locator('.info details', { hasText: /^\s*Quotas/ });
    const text = section.getByText('Requests are counted per UTC minute');
    expect(await text.isVisible()).toBe(false);
    await section.locator('summary').focus();
    await page.keyboard.press('Enter');
    expect(await text.isVisible()).toBe(true);
  });

  it('request nothing from other origins, and violate no rule of their policy', () => {
    expect(foreign).toEqual([]);
    expect(complaints.join('\n')).toBe('');
  });
});
