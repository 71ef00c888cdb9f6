import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { PetstoreClient } from '../../clients/typescript/src/index.js';
import { TestService } from '../kit/test-service.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { Nginx, composeSite, ownSite, siteFrom } from '../support/nginx.js';
import { describeWith } from '../support/requirements.js';

/** What a site inherits where the whole nginx compresses JSON. */
const COMPRESSION = 'gzip on;\ngzip_types application/json;\ngzip_min_length 0;\ngzip_proxied any;\n';
/** How Apache writes the tag of what it compresses. */
const APACHES_TAG = 'map $upstream_http_etag $changed { "~^\\"(?<opaque>.*)\\"$" "\\"$opaque-gzip\\""; }\n';

/** A site without TLS that changes tags. */
const compressing = (url: string, more = ''): string => `${COMPRESSION}${more && APACHES_TAG}server {
  listen 127.0.0.1:{port};
  location / {
    proxy_pass ${url};
    proxy_set_header Host $http_host;
    ${more}
  }
}`;

describeWith('nginx', 'behind a proxy that compresses JSON', () => {
  let service: TestService;
  let admin: string;
  beforeAll(async () => {
    service = await TestService.open({ environment: { TRUST_PROXY: '1' } });
    ({ key: admin } = await service.issueKey({ plan: 'business', scopes: ['admin'] }));
    return () => service.close();
  });

  const started = async (site: string): Promise<Nginx> => {
    const nginx = await Nginx.start(site);
    onTestFinished(() => nginx.stop());
    return nginx;
  };
  const newClient = async (name: string): Promise<string> =>
    (await service.app.get(ClientsService).create({ name, plan: 'pro' }, SERVICE_ITSELF)).id;

  describe.each([
    ['nginx', '', (tag: string) => `W/${tag}`],
    [
      'Apache',
      'gzip off; proxy_hide_header ETag; add_header ETag $changed;',
      (tag: string) => tag.replace(/"$/, '-gzip"'),
    ],
  ])('as %s does', (_, more, changed) => {
    const start = async () =>
      new URL(`http://127.0.0.1:${(await started(compressing(service.url, more))).port}`);

    it('a 412 says that the tag was changed on the way', async () => {
      const [id, { origin }] = [await newClient('Changed'), await start()];
      const path = `/admin/clients/${id}`;
      const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' };
      const strong = (await service.request('GET', path, { key: admin })).headers.get('etag') ?? '';
      const tag = (await fetch(origin + path, { headers })).headers.get('etag') ?? '';
      expect(tag).toBe(changed(strong));
      const patch = async (ifMatch: string) => {
        const body = JSON.stringify({ plan: 'free' });
        const response = await fetch(origin + path, {
          method: 'PATCH',
          headers: { ...headers, 'if-match': ifMatch },
          body,
        });
        return {
          status: response.status,
          body: (await response.json()) as { code: string; message: string },
        };
      };
      const refused = await patch(tag);
      expect([refused.status, refused.body.code]).toEqual([412, 'precondition_failed']);
      expect(refused.body.message).toContain('contains the current ETag, but a proxy has changed it');
      expect((await patch(changed('"other"'))).body.message).not.toMatch(/proxy/);
      expect((await patch(strong)).status).toBe(200);
    });

    it('the typed client has the tag of the service', async () => {
      const { origin } = await start();
      const [made, behind] = [service.url, origin].map(
        (url) => new PetstoreClient({ baseUrl: `${url}/v1`, apiKey: service.key }),
      );
      const pet = await made?.pets.create({ name: 'Rex', categoryId: 1n });
      const input = { path: { petId: pet?.id ?? 0n } };
      const [direct, proxied] = [
        await made?.exchange('getPet', input),
        await behind?.exchange('getPet', input),
      ];
      expect(direct?.etag).toMatch(/^"/);
      expect(proxied).toEqual(direct);
    });

    it.runIf(more === '')('a GET of what has not changed is 304', async () => {
      const { origin } = await start();
      const headers = { authorization: `Bearer ${service.key}` };
      const etag = (await fetch(`${origin}/v1/pets`, { headers })).headers.get('etag') ?? '';
      expect(etag).toMatch(/^W\//);
      const again = await fetch(`${origin}/v1/pets`, { headers: { ...headers, 'if-none-match': etag } });
      expect(again.status).toBe(304);
    });

    describeWith('browser', 'in a real browser', () => {
      it('the console changes the plan of a client', async () => {
        const [id, { origin }] = [await newClient('Corner Pets'), await start()];
        const tab = await ConsoleBrowser.open(origin);
        onTestFinished(() => tab.close());
        await tab.signIn(admin);
        await tab.button('Sign out').waitFor();
        for (const plan of ['free', 'business']) {
          await tab.show('#/clients');
          await tab.show(`#/clients/${id}`);
          await tab.button('Change plan').click();
          await tab.dialog.getByLabel('Plan').selectOption(plan);
          await tab.inDialog('Change the plan').click();
          await tab.closed();
          const client = (await service.request('GET', `/admin/clients/${id}`, { key: admin })).body;
          expect(client.plan).toBe(plan);
        }
      });
    });
  });

  it.each([
    ['petstore.conf', '', () => ownSite([service.url])],
    ['petstore-prefix.conf', '/petstore', () => prefixSite()],
    ['the proxy of Compose', '', () => composeSite([service.url])],
  ])('%s keeps the tags of the service', async (_, prefix, site) => {
    const nginx = await started(COMPRESSION + site());
    const headers = { authorization: `Bearer ${service.key}`, 'accept-encoding': 'gzip' };
    const result = await nginx.requestRaw(`${prefix}/v1/pets`, { headers });
    expect([result.status, result.headers['content-encoding']]).toEqual([200, undefined]);
    expect(result.headers.etag).toMatch(/^"/);
  });

  const prefixSite = (): string => `server {
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {tls}/server.crt;
    ssl_certificate_key {tls}/server.key;
    ${siteFrom('petstore-prefix.conf', { 'http://127.0.0.1:3000': service.url })}
  }`;
});
