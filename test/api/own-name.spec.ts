import type { Command } from 'commander';
import { describe, expect, it, onTestFinished } from 'vitest';
import { petstoreProgram } from '../../src/cli/program.js';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { WebhookSender } from '../../src/webhooks/webhook-sender.js';
import { newWebhookSecret } from '../../src/webhooks/webhook-signature.js';
import { databaseOf, openForAll, openForTest } from '../support/opened.js';
import { ADMIN_DOCUMENT } from '../support/petstore-here.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const TITLE = 'Acme <Orders>';
const SHOWN = 'Acme &lt;Orders&gt;';
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const SCOPES = ['account', 'admin', 'pets:read', 'pets:write'];

const service = await openForAll({
  database: 'file',
  scopes: SCOPES,
  environment: {
    API_TITLE: TITLE,
    API_DESCRIPTION: 'Takes orders & ships them.',
    API_VERSION: '3.2.1',
    API_CONTACT: 'Acme API team <api@acme.example>',
    API_REALM: 'acme orders',
    API_KEY_PREFIX: 'acme',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  },
});

/** Another instance of it, with the names and the prefix that the service has by itself. */
const former = await openForAll({
  scopes: SCOPES,
  environment: { ...databaseOf(service), WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
});

/** What of a text says Pet Store, or shows a key of another prefix; the command, its metrics and the package are named petstore in every service. */
const foreign = (text: string) =>
  text
    .replaceAll(/\bpetstore(?![A-Z])|\bPETSTORE_KEY\b/g, '')
    .match(/.{0,40}(?:pet[\s_-]*store|\bpst_).{0,40}/gi) ?? [];

async function seen(path: string, headers: Record<string, string> = { accept: BROWSER }) {
  const response = await fetch(service.url + path, { headers });
  const text = await response.text();
  return { status: response.status, text, all: `${JSON.stringify([...response.headers])}\n${text}` };
}

/** The addresses that a page, a script or a style sheet loads or links to. */
function addressesIn(text: string, at: string): string[] {
  const found = text.matchAll(
    /\b(?:href|src|data-document)="([^"#]+)|\bfrom '(\.[^']+)'|\burl\(["']?([^"')]+)/g,
  );
  return [...found]
    .map(
      ([, attribute, imported, styled]) => new URL(attribute ?? imported ?? styled ?? '', service.url + at),
    )
    .filter(({ origin }) => origin === service.url)
    .map(({ pathname }) => pathname);
}

describe('a service with another name', () => {
  it('says nowhere that it is the Pet Store: pages, what they load, documents, errors, headers', async () => {
    const places = ['/', '/console/', '/account/', '/nothing', '/v1/nothing', '/robots.txt', '/health/ready'];
    const queue = [...places, '/docs/openapi.yaml', '/docs/admin/openapi.yaml', '/docs/account/openapi.yaml'];
    for (const path of queue) {
      const { text, all } = await seen(path);
      expect([path, foreign(all)]).toEqual([path, []]);
      queue.push(...addressesIn(text, path).filter((one) => !queue.includes(one)));
    }
    expect(queue.length).toBeGreaterThan(40);
    for (const path of ['/', '/nothing', '/v1/pets', '/admin/clients', '/account'])
      expect([path, foreign((await seen(path, { accept: 'application/json' })).all)]).toEqual([path, []]);
  });

  it.each(['/', '/docs', '/console/', '/account/'])('shows its name at %s', async (path) => {
    const { text } = await seen(path);
    expect(text).toContain(`<title>${SHOWN}</title>`);
    expect(text).not.toContain(TITLE);
  });

  it('has the page at / describe it, and show how its keys start', async () => {
    const { text } = await seen('/');
    expect(text).toContain('Takes orders &amp; ships them.');
    expect(text).toContain('KEY=acme_test_…');
    expect(text).toContain('<dd>3.2.1</dd>');
  });

  it('names itself, its version and its contact in the documents', () => {
    const contact = { name: 'Acme API team', email: 'api@acme.example' };
    expect(service.document.info).toMatchObject({ title: TITLE, version: '3.2.1', contact });
    expect(service.document.info.description).toMatch(/^Takes orders & ships them\. Every request/);
    expect(service.document.info.description).toContain('`acme_live_`');
    expect(service.accountDocument.info).toMatchObject({ title: `${TITLE} account`, contact });
    expect(service.adminDocument.info).toMatchObject({ title: `${TITLE} administration`, contact });
  });

  it('names its realm in refusals for a missing key or scope', async () => {
    const { key } = await service.issueKey({ scopes: ['pets:read'] });
    const challenges = [null, 'acme_test_0', key].map(async (one) => {
      const { headers } = await service.request('POST', '/v1/pets', { key: one, json: {} });
      return headers.get('www-authenticate');
    });
    expect(await Promise.all(challenges)).toEqual([
      'Bearer realm="acme orders"',
      'Bearer realm="acme orders", error="invalid_token"',
      'Bearer realm="acme orders", error="insufficient_scope", scope="pets:write"',
    ]);
  });

  it('names itself to receivers of webhooks', async () => {
    const receiver = await WebhookReceiver.start();
    onTestFinished(() => receiver.stop());
    const attempt = { messageId: '1', payload: '{}', url: receiver.url, secret: newWebhookSecret() };
    for (const { app } of [service, former])
      await app.get(WebhookSender).send({ ...attempt, previousSecrets: [] }, AbortSignal.timeout(5_000));
    expect(receiver.received.map(({ headers }) => headers['user-agent'])).toEqual([
      'acme-orders-webhooks/1.0.0',
      'petstore-webhooks/1.0.0',
    ]);
  });

  it('says so in no help of a command and of no metric', async () => {
    const helps = [
      petstoreProgram({
        write: () => Promise.resolve(),
        writeError: () => undefined,
        operations: ADMIN_DOCUMENT,
      } as never),
    ]
      .flatMap(withChildren)
      .map((one) => one.helpInformation());
    const { text } = await service.app.get(Metrics).exposition();
    expect(foreign([...helps, text].join('\n'))).toEqual([]);
  });
});

function withChildren(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withChildren)];
}

describe('keys after a change of their prefix', () => {
  it('start with the new one, while earlier ones stay valid', async () => {
    expect(service.key).toMatch(/^acme_test_\w{36}$/);
    expect(former.key).toMatch(/^pst_test_\w{36}$/);
    for (const key of [service.key, former.key])
      expect((await service.request('GET', '/v1/pets', { key })).status).toBe(200);
    const issued = await service.request('POST', '/admin/keys', { json: { clientId: service.clientId } });
    expect(issued.body).toMatchObject({
      prefix: issued.body.key.slice(0, 14),
      key: expect.stringMatching(/^acme_test_/),
    });
  });

  it('get into no log, name or label, with either prefix', async () => {
    const scopes = ['account'];
    for (const { key } of [await service.issueKey({ scopes }), await former.issueKey({ scopes })]) {
      const { headers } = await service.request('GET', '/v1/pets', { headers: { 'x-request-id': key } });
      expect(headers.get('x-request-id')).not.toBe(key);
      const named = await service.request('POST', '/admin/clients', {
        json: { name: `x${key}`, plan: 'free' },
      });
      expect(named.body).toMatchObject({ status: 400, details: [{ field: 'name', code: 'holds_api_key' }] });
    }
  });
});

it.each([
  ['API_TITLE', 'x'.repeat(101), 'one line of at most 100 characters'],
  ['API_CONTACT', 'team <javascript:alert(1)>', 'a name, optionally with an email address'],
  ['API_REALM', 'a"b', 'visible ASCII characters'],
  ['API_KEY_PREFIX', 'my_key', '2 to 10 lower-case letters and digits'],
])('%s of a wrong form stops the start', async (name, value, allowed) => {
  await expect(openForTest({ environment: { [name]: value } })).rejects.toThrow(allowed);
});
