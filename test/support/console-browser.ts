import type { Browser, Locator, Page } from 'playwright-core';
import { TestService, type TestServiceOptions } from '../kit/test-service.js';
import { faultsInViews, launchChromium } from './chromium.js';
import { PrefixProxy } from './prefix-proxy.js';

/** One tab with the console or the page of a key holder, and what went wrong in it. */
export class ConsoleBrowser {
  /** Errors and warnings of the browser's console, violations of the policy among them. */
  readonly complaints: string[] = [];
  /** What Chromium writes of each refusal that got a response, whatever the page makes of it. */
  readonly refusals: string[] = [];
  /** Requests to other origins. */
  readonly foreign: string[] = [];
  /** Every address that was asked for. */
  readonly requested: string[] = [];
  /** Why not everyone can read the views that were looked at. */
  readonly faults: string[] = [];

  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
    readonly url: string,
  ) {}

  /** Opens the console of the service at this origin, in its own browser; `path` may have a prefix in front. */
  static async open(origin: string, path = '/console'): Promise<ConsoleBrowser> {
    const browser = await launchChromium();
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const opened = new ConsoleBrowser(browser, page, origin + path);
    page.on('console', (message) => {
      const isRefusal = message.text().startsWith('Failed to load resource: the server responded');
      if (['error', 'warning'].includes(message.type()))
        (isRefusal ? opened.refusals : opened.complaints).push(message.text());
    });
    page.on('pageerror', (error) => opened.complaints.push(error.message));
    page.on('request', (request) => {
      opened.requested.push(request.url());
      const { origin: requestOrigin } = new URL(request.url());
      if (requestOrigin !== origin && requestOrigin !== 'null') opened.foreign.push(request.url());
    });
    await page.goto(opened.url);
    return opened;
  }

  /**
   * Opens a page of a new service behind the prefix `/store`, so that no address of the page may start at the root. `close` ends all.
   * The page compares instants of the service with the clock of the browser, and a ban is earned within one minute: the service starts
   * with the minute.
   */
  static async behindPrefix(options: TestServiceOptions, path = '/console') {
    const minute = new Date();
    minute.setSeconds(0, 0);
    const service = await TestService.open({ at: minute.toISOString(), ...options });
    const proxy = await PrefixProxy.to(service.url, '/store');
    const tab = await ConsoleBrowser.open(proxy.url, `/store${path}`);
    const close = async () => {
      await tab.close();
      await proxy.close();
      await service.close();
    };
    return { service, proxy, tab, close };
  }

  /** Signs in with a key. */
  async signIn(key: string): Promise<void> {
    await this.page.getByLabel('Admin key').fill(key);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** Shows another view, by its address behind the hash. */
  async show(hash: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }

  get dialog(): Locator {
    return this.page.getByRole('dialog');
  }

  /** A button of the dialog. */
  inDialog(name: string | RegExp): Locator {
    return this.dialog.getByRole('button', { name });
  }

  /** Waits until there is no dialog. */
  async closed(): Promise<void> {
    await this.dialog.waitFor({ state: 'detached' });
  }

  /** Stores the key or the secret that the dialog shows once, and closes it; returns it. */
  async stored(what: 'key' | 'secret'): Promise<string> {
    const secret = await this.dialog.getByLabel(`The new ${what}`).inputValue();
    await this.inDialog('I have stored it').click();
    await this.inDialog('Close anyway').click();
    await this.closed();
    return secret;
  }

  /** Looks at a view, narrow and dark, wide and light. */
  async check(view: string): Promise<void> {
    this.faults.push(...(await faultsInViews(this.page)).map((fault) => `${view}: ${fault}`));
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}
