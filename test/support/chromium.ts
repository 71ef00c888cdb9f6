import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type Page, chromium } from 'playwright-core';
import { CHROMIUM } from './requirements.js';

/** Without these Chromium calls home at every start, and cannot run as root. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** axe-core as text: the policy of the pages takes no script of others, the debugger that Playwright drives does. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Starts Debian's Chromium without a window. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Whether something on a page is wider than the window. */
function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
}

/** What axe-core finds on a page as it is, one line each. */
export async function findingsOn(page: Page): Promise<string[]> {
  if (await page.evaluate<boolean>('!window.axe')) await page.evaluate(AXE);
  // During a transition between two colors, the contrast is too low.
  await page.evaluate('document.getAnimations().forEach((animation) => animation.finish())');
  // Without `preload`, which would put imported style sheets into the page as text, against its policy.
  const violations = await page.evaluate<Finding[]>(
    `axe.run(document, { resultTypes: ['violations'], preload: false }).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Each width and each colour once: what differs by both is nowhere. */
const VIEWS = [
  { width: 390, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const;

/** Why not everyone can read a page as it is: narrow and dark, then wide and light. One line each. */
export async function faultsInViews(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const { width, colorScheme } of VIEWS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    if (await scrollsSideways(page)) faults.push(`scrolls sideways at ${width} px`);
    faults.push(...(await findingsOn(page)).map((finding) => `${colorScheme}: ${finding}`));
  }
  return faults;
}
