import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { DemoData } from '../../src/database/demo-data.js';
import { TestService } from '../kit/test-service.js';
import { findingsOn, launchChromium, scrollsSideways } from '../support/chromium.js';
import { PrefixProxy } from '../support/prefix-proxy.js';
import { describeWith } from '../support/requirements.js';

const MOST_INT64 = '9223372036854775807';

/** Whether the ground of a page is dark. */
const isDark = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>(
    '/^rgb\\((?:\\d|[1-4]\\d), /.test(getComputedStyle(document.documentElement).backgroundColor)',
  );

interface OpenOptions {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly javaScriptEnabled?: boolean;
  readonly origin?: string;
}

/** The pages of the service for people, with what tells that one is complete. */
const PAGES = [
  ['/', 'h1'],
  ['/docs/admin', '.opblock'],
  ['/docs#/Pets/getPet', '#operations-Pets-getPet .refusal'],
  ['/docs/guides/using-the-api', '.prose h2'],
  ['/docs/errors#pet_not_found', '#pet_not_found'],
] as const;

describeWith('browser', 'the pages for people in a real browser', () => {
  let service: TestService;
  let browser: Browser;
  let contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  const foreign: string[] = [];

  beforeAll(async () => {
    service = await TestService.open();
    await service.app.get(DemoData).add();
    browser = await launchChromium();
  });
  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    contexts = [];
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  async function open(
    path: string,
    { width = 1280, colorScheme, javaScriptEnabled = true, origin = service.url }: OpenOptions = {},
  ): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: colorScheme ?? 'light',
      javaScriptEnabled,
    });
    contexts.push(context);
    const page = await context.newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const asked = new URL(request.url());
      if (asked.origin !== origin && asked.origin !== 'null') foreign.push(request.url());
    });
    await page.goto(origin + path);
    return page;
  }

  it.each(
    [1280, 390].flatMap((width) =>
      (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
    ),
  )('are read by everyone, at $width px, $colorScheme', { timeout: 120_000 }, async (options) => {
    const page = await open('/', options);
    for (const [path, complete] of PAGES) {
      await page.goto(service.url + path);
      await page.locator(complete).first().waitFor();
      expect([path, await findingsOn(page)]).toEqual([path, []]);
      expect([path, await scrollsSideways(page)]).toEqual([path, false]);
      expect([path, await isDark(page)]).toEqual([path, options.colorScheme === 'dark']);
    }
  });

  it('have colours that can be chosen, by keyboard, for all of them', async () => {
    const page = await open('/docs/errors');
    await page.getByLabel('Colours').focus();
    await page.keyboard.type('Dark');
    expect(await isDark(page)).toBe(true);
    await page.goto(`${service.url}/docs`);
    await page.locator('.opblock').first().waitFor();
    expect(await isDark(page)).toBe(true);
    await page.getByLabel('Colours').selectOption('system');
    expect(await isDark(page)).toBe(false);
  });

  it('begin with a way past the header, for a keyboard', async () => {
    const page = await open('/docs/guides/using-the-api');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
  });

  it('are complete without a script, but for the Swagger UI, which says so', async () => {
    for (const [path, text] of [
      ['/', 'curl -H'],
      ['/docs/guides/using-the-api', 'Retry safely'],
      ['/docs/errors', 'rate_limit_exceeded'],
      ['/docs', 'This page needs JavaScript'],
    ] as const) {
      const page = await open(path, { javaScriptEnabled: false });
      expect(await page.locator('body').innerText()).toContain(text);
    }
  });

  it('lead from one document to the other', async () => {
    const page = await open('/docs');
    await page
      .getByRole('navigation', { name: 'Documents' })
      .getByRole('link', { name: 'Administration' })
      .click();
    await page.locator('#operations-Clients-createClient').waitFor();
    await page.getByRole('banner').getByRole('link', { name: 'Errors' }).click();
    await page.getByRole('link', { name: 'pet_not_found' }).first().click();
    expect(new URL(page.url()).hash).toBe('#pet_not_found');
  });

  it('open the deprecated operation by the link that its answers have, with its end and successor', async () => {
    const { headers } = await service.request('GET', '/v1/pets/1');
    const [, link = ''] = /<([^>]+)>; rel="deprecation"/.exec(headers.get('link') ?? '') ?? [];
    const page = await open(link);
    const operation = page.locator('#operations-Pets-getPet');
    await operation.locator('.refusal').first().waitFor();
    const text = await operation.innerText();
    expect(text).toContain('deprecated, will be removed on 5 December 2030');
    expect(text).toContain('GET /v1/pets?status=available');
    const top = () => operation.boundingBox().then((box) => box?.y);
    await expect.poll(top).toBeLessThan(300);
  });

  it('tell headers of every response once, and refusals by code, each open when asked for', async () => {
    const page = await open('/docs#/Pets/listPets');
    const operation = page.locator('#operations-Pets-listPets');
    await operation.locator('.refusal').first().waitFor();
    expect(await operation.innerText()).not.toContain('X-RateLimit-Remaining');
    expect((await operation.boundingBox())?.height).toBeLessThan(2_500);
    const refusal = operation.locator('.refusal', { hasText: 'rate_limit_exceeded' }).getByRole('button');
    await refusal.focus();
    await page.keyboard.press('Enter');
    expect(await refusal.getAttribute('aria-expanded')).toBe('true');
    expect(await operation.innerText()).toContain('Retry-After');
    await operation.getByRole('button', { name: 'the headers of every response' }).first().click();
    expect(await page.locator('#headers-of-every-response').innerText()).toContain('X-RateLimit-Remaining');
    expect(service.document.components?.responses?.['TooManyRequests']).toHaveProperty(
      'headers.X-RateLimit-Remaining',
    );
  });

  it('show the prose of a document as sections, each open when asked for, above the operations', async () => {
    for (const [width, most] of [
      [1280, 1_100],
      [390, 1_500],
    ] as const) {
      const page = await open('/docs', { width });
      const first = page.locator('.opblock').first();
      await first.waitFor();
      expect((await first.boundingBox())?.y).toBeLessThan(most);
      const section = page.locator('.info details', { hasText: 'Quotas, and how to wait' });
      const text = section.getByText('Two windows count');
      expect(await text.isVisible()).toBe(false);
      await section.locator('summary').focus();
      await page.keyboard.press('Enter');
      expect(await text.isVisible()).toBe(true);
    }
  });

  it('send and show every int64 exactly, as often as it is tried', async () => {
    const page = await open('/docs#/Pets/createPet');
    const operation = page.locator('#operations-Pets-createPet');
    await authorize(page);
    await operation.locator('.try-out__btn').click();
    await operation.locator('textarea').fill(`{"name":"Big","categoryId":${MOST_INT64}}`);
    const ids: string[] = [];
    for (const attempt of [1, 2]) {
      const answered = page.waitForResponse((response) => response.request().method() === 'POST');
      await operation.locator('.execute').click();
      const response = await answered;
      expect([attempt, response.status()]).toEqual([attempt, 201]);
      const shown = operation.locator('.live-responses-table .highlight-code');
      const id = /"id":(\d+)/.exec(await response.text())?.[1] ?? '';
      await shown.getByText(id, { exact: true }).waitFor();
      expect(await shown.innerText()).toContain(`"categoryId": ${MOST_INT64}`);
      ids.push(id);
    }
    expect(new Set(ids).size).toBe(2);
  });

  it('keep the key in the tab, and nowhere else', async () => {
    const page = await open('/docs');
    await page.locator('.opblock').first().waitFor();
    await authorize(page);
    await page.goto(`${service.url}/docs/admin`);
    await page.locator('.btn.authorize.locked').waitFor();
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(service.key);
    const other = await page.context().newPage();
    await other.goto(`${service.url}/docs`);
    await other.locator('.btn.authorize.unlocked').waitFor();
    await other.close();
  });

  it('work behind a proxy that takes a prefix away', async () => {
    const proxy = await PrefixProxy.to(service.url, '/petstore');
    const origin = proxy.url;
    try {
      const page = await open('/petstore/docs', { origin });
      for (const [path, complete] of PAGES) {
        await page.goto(`${origin}/petstore${path}`);
        await page.locator(complete).first().waitFor();
      }
      await page.goto(`${origin}/petstore/`);
      expect(await page.locator('pre').innerText()).toContain(`"${origin}/petstore/v1/pets?limit=3"`);
    } finally {
      await proxy.close();
    }
  });

  it('ask nobody else for anything, and break no rule of their policy', () => {
    expect(foreign).toEqual([]);
    expect(complaints.join('\n')).toBe('');
  });

  async function authorize(page: Page): Promise<void> {
    await page.locator('.btn.authorize').click();
    await page.locator('.auth-container input').fill(service.key);
    await page.locator('.auth-btn-wrapper .authorize').click();
    await page.locator('.auth-btn-wrapper .btn-done').click();
  }
});
