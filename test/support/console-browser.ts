import type { Browser, Locator, Page } from 'playwright-core';
import { TestService, type TestServiceOptions } from '../kit/test-service.js';
import { faultsInViews, launchChromium } from './chromium.js';
import { PrefixProxy } from './prefix-proxy.js';

/** A browser tab with the console or the page for key holders, and the problems that occurred in it. */
export class ConsoleBrowser {
  /** Errors and warnings in the browser's console, including violations of the content security policy. */
  readonly complaints: string[] = [];
  /** Chromium's messages about error responses, which it logs even if the page handles them. */
  readonly refusals: string[] = [];
  /** Requests to other origins. */
  readonly foreign: string[] = [];
  /** The URLs of all requests. */
  readonly requested: string[] = [];
  /** Accessibility problems of the views that were checked. */
  readonly faults: string[] = [];

  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
    readonly url: string,
  ) {}

  /** Opens the console of the service at this origin in a separate browser. `path` may include a prefix. */
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
   * Opens a page of a new service behind the prefix `/store`, so that no URL in the page can be relative to the root. `close` stops
   * everything. The service starts at the beginning of a minute, because a ban is earned within one minute, and because the page compares
   * timestamps of the service with the browser's clock.
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

  /** Opens another view by its URL fragment. */
  async show(hash: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }

  get dialog(): Locator {
    return this.page.getByRole('dialog');
  }

  /** A button in the dialog. */
  inDialog(name: string | RegExp): Locator {
    return this.dialog.getByRole('button', { name });
  }

  /** Waits until no dialog is open. */
  async closed(): Promise<void> {
    await this.dialog.waitFor({ state: 'detached' });
  }

  /** Confirms that the key or secret in the dialog has been stored, which closes the dialog. Returns the key or secret. */
  async stored(what: 'key' | 'secret'): Promise<string> {
    const secret = await this.dialog.getByLabel(`The new ${what}`).inputValue();
    await this.inDialog('I have stored it').click();
    await this.inDialog('Close anyway').click();
    await this.closed();
    return secret;
  }

  /** Checks the accessibility of a view: narrow and dark, and wide and light. */
  async check(view: string): Promise<void> {
    this.faults.push(...(await faultsInViews(this.page)).map((fault) => `${view}: ${fault}`));
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}
