import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type Page, chromium } from 'playwright-core';
import { CHROMIUM } from './requirements.js';

/** Without these options, Chromium sends requests to its vendor at startup, and cannot run as root. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The source of axe-core. The pages' policy blocks other scripts, except those injected by the debugger, which Playwright uses. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Starts Debian's Chromium in headless mode. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Whether an element on a page is wider than the window. */
function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
}

/** The violations that axe-core finds on the current page, one line each. */
export async function findingsOn(page: Page): Promise<string[]> {
  if (await page.evaluate<boolean>('!window.axe')) await page.evaluate(AXE);
  // During a transition between two colors, the contrast is too low.
  await page.evaluate('document.getAnimations().forEach((animation) => animation.finish())');
  // Without `preload`, which would insert imported style sheets into the page as text and violate its policy.
  const violations = await page.evaluate<Finding[]>(
    `axe.run(document, { resultTypes: ['violations'], preload: false }).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Each width and each color scheme once. No problem depends on the combination. */
const VIEWS = [
  { width: 390, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const;

/** Accessibility problems of the current page in each view, one line each. */
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
