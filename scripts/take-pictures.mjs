// Takes the screenshots for README.md (docs/pictures/*.png) from a service with a stopped clock: `npm run pictures`. Requires a build and
// Chromium (CHROMIUM_PATH, by default Debian's).
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TestService, issueKey } from 'petstore-service/testing';
import { chromium } from 'playwright-core';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs/pictures');
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium-headless-shell';
/** A Wednesday morning. */
const AT = '2026-11-25T08:00:00.000Z';
const MOST_BYTES = 150_000;
/** Name, plan, and number of requests per hour of each client. */
const CLIENTS = [
  ['Corner Pets', 'business', 40],
  ['Kennel Nord', 'pro', 25],
  ['Website', 'free', 64],
  ['Adoption app', 'pro', 12],
];

/** Starts a service with clients, keys and three hours of traffic. */
async function serviceWithTraffic() {
  const service = await TestService.open({ at: AT });
  await service.seed();
  const { key: admin } = await issueKey(service.app, { name: 'Operators', scopes: ['admin'] });
  const clients = [];
  for (const [name, plan, requests] of CLIENTS) {
    const { key } = await issueKey(service.app, { name, plan });
    clients.push({ key, requests });
  }
  for (let hour = 0; hour < 3; hour += 1) {
    for (const { key, requests } of clients)
      for (let sent = 0; sent < requests; sent += 1)
        await service.request('GET', '/v1/pets?limit=20', { key });
    service.clock.advance(3_600_000);
  }
  for (const { key, requests } of clients)
    for (let sent = 0; sent < requests; sent += 1) await service.request('GET', '/v1/pets?limit=20', { key });
  return { service, admin };
}

/** Saves a screenshot of the page. Throws if the file is too large for a README. */
async function save(page, name) {
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
  const { size } = statSync(path);
  if (size > MOST_BYTES)
    throw new Error(`${path} is too large: ${size} bytes, at most ${MOST_BYTES} are allowed.`);
  console.log(`${path}: ${size} bytes`);
}

mkdirSync(folder, { recursive: true });
const { service, admin } = await serviceWithTraffic();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  await page.goto(`${service.url}/docs`);
  await page.locator('.opblock').first().waitFor();
  await save(page, 'docs');
  await page.clock.setFixedTime(service.clock.now());
  await page.goto(`${service.url}/console`);
  await page.getByLabel('Admin key').fill(admin);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.mouse.move(0, 0);
  await save(page, 'console');
} finally {
  await browser.close();
  await service.close();
}
