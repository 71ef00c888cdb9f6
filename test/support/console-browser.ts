import type { Browser, Page } from 'playwright-core';
import { launchChromium, scrollsSideways } from './chromium.js';

/** One tab with the console, and what went wrong in it. */
export class ConsoleBrowser {
  /** Errors and warnings of the browser's console, violations of the policy among them. */
  readonly complaints: string[] = [];
  /** Requests to other origins. */
  readonly foreign: string[] = [];
  /** Every address that was asked for. */
  readonly asked: string[] = [];

  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
    readonly url: string,
  ) {}

  /** Opens the console of the service at this origin, in a browser of its own; `path` may have a prefix in front. */
  static async open(origin: string, path = '/console'): Promise<ConsoleBrowser> {
    const browser = await launchChromium();
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const opened = new ConsoleBrowser(browser, page, origin + path);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) opened.complaints.push(message.text());
    });
    page.on('pageerror', (error) => opened.complaints.push(error.message));
    page.on('request', (request) => {
      opened.asked.push(request.url());
      const { origin: asked } = new URL(request.url());
      if (asked !== origin && asked !== 'null') opened.foreign.push(request.url());
    });
    await page.goto(opened.url);
    return opened;
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

  /** Whether something is wider than the window. */
  scrollsSideways(): Promise<boolean> {
    return scrollsSideways(this.page);
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}
