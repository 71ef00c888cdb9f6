import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.js';
import { type NginxResponse, Nginx, composeSite, ownSite, siteFrom } from '../support/nginx.js';
import { describeWith } from '../support/requirements.js';
import { ServiceProcess, emptyFolder, folderOfTest, serviceOfTest } from '../support/service-process.js';

/** A site with something else at its root, and the service under a prefix. */
const prefixSite = (url: string): string => `server {
  listen 127.0.0.1:{port} ssl http2;
  server_name localhost;
  ssl_certificate {tls}/server.crt;
  ssl_certificate_key {tls}/server.key;
  location / { return 200 'the shop'; }
${siteFrom('petstore-prefix.conf', { 'http://127.0.0.1:3000': url })}
}`;

/** The targets of a Link header by their relation. */
function linksOf(header: string | string[] | undefined): Record<string, string> {
  const links: Record<string, string> = {};
  for (const [, target = '', rel = ''] of String(header).matchAll(/<([^>]*)>; rel="([^"]*)"/g))
    links[rel] = target;
  return links;
}

/** The code of the Error body, which says the status of the response. */
function codeOf({ status, body }: NginxResponse): unknown {
  const error = JSON.parse(body) as { code: unknown; status: unknown };
  expect(error.status).toBe(status);
  return error.code;
}

describeWith('nginx', 'behind a real nginx with TLS', () => {
  it('only the addresses of operators reach administration and its console, also by another spelling', async () => {
    const nginx = await Nginx.start(ownSite(['http://127.0.0.1:9']).replace('allow 127.0.0.1;', ''));
    onTestFinished(() => nginx.stop());
    const codes = async (paths: readonly string[]) =>
      Promise.all(paths.map(async (path) => codeOf(await nginx.requestRaw(path))));
    const internalPaths = [
      '/console',
      '/console/',
      '/admin',
      '/admin/clients',
      '/%61dmin/clients',
      '//admin/clients',
      '/x/../admin',
    ];
    expect(new Set(await codes(internalPaths))).toEqual(new Set(['route_not_found']));
    // There is no instance behind this nginx.
    expect(new Set(await codes(['/v1/pets', '/administrators', '/docs']))).toEqual(
      new Set(['service_unavailable']),
    );
  });

  it('the proxy of Compose passes requests to all instances, and responds itself when none is left', async () => {
    const start = async () => serviceOfTest(await folderOfTest(), { TRUST_PROXY: '1' });
    const services = [await start(), await start()];
    const nginx = await Nginx.start(composeSite(services.map(({ url }) => url)));
    onTestFinished(() => nginx.stop());
    const statuses = async () => {
      const results = await Promise.all(Array.from({ length: 6 }, () => nginx.requestRaw('/v1/pets')));
      return new Set(results.map(({ status }) => status));
    };
    expect(await statuses()).toEqual(new Set([401]));
    for (const service of services) await expect.poll(() => service.output).toContain('"route":"/v1/pets"');
    await services[0]?.stop('SIGKILL');
    expect(await statuses()).toEqual(new Set([401]));
    await services[1]?.stop();
    const response = await nginx.requestRaw('/v1/pets');
    expect([response.status, codeOf(response), response.headers['retry-after']]).toEqual([
      503,
      'service_unavailable',
      '1',
    ]);
  });

  it.each([
    ['petstore.conf', ownSite],
    ['the proxy of Compose', composeSite],
  ])('%s excludes one of four instances that hangs', async (_, site) => {
    const services: ServiceProcess[] = [];
    for (let started = 0; started < 4; started += 1)
      services.push(await serviceOfTest(await folderOfTest(), { TRUST_PROXY: '1' }));
    const nginx = await Nginx.start(site(services.map(({ url }) => url)));
    onTestFinished(() => nginx.stop());
    const twelve = async () => {
      const startedAt = performance.now();
      const responses = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const { status } = await nginx.requestRaw('/v1/pets');
          return { status, ms: performance.now() - startedAt };
        }),
      );
      return {
        statuses: new Set(responses.map(({ status }) => status)),
        late: responses.filter(({ ms }) => ms > 5_000),
      };
    };
    services[0]?.signal('SIGSTOP');
    onTestFinished(() => services[0]?.signal('SIGCONT'));
    const first = await twelve();
    // A read goes to another instance once this one has not responded for 12 s.
    expect(first.statuses).toEqual(new Set([401]));
    expect(first.late.every(({ ms }) => ms < 16_000)).toBe(true);
    const second = await twelve();
    expect([second.statuses, second.late]).toEqual([new Set([401]), []]);
  });

  describe.each(['', '/petstore'])('with the prefix "%s"', (prefix) => {
    let nginx: Nginx;
    let service: ServiceProcess;
    /** With the key of the demo client. */
    let withKey: { headers: Record<string, string> };
    beforeAll(async () => {
      const { path, remove } = await emptyFolder();
      const port = String(await freePort());
      const url = `http://127.0.0.1:${port}`;
      nginx = await Nginx.start(prefix === '' ? ownSite([url]) : prefixSite(url));
      const PUBLIC_BASE_URL = `${nginx.url}${prefix}/v1`;
      service = await ServiceProcess.start(path, { PORT: port, TRUST_PROXY: '1', PUBLIC_BASE_URL });
      const authorization = `Bearer ${service.demoKey}`;
      withKey = { headers: { authorization, 'content-type': 'application/json' } };
      return async () => {
        await Promise.all([nginx.stop(), service.stop('SIGKILL')]);
        await remove();
      };
    });

    it.runIf(prefix === '')(
      'everything that nginx itself refuses on its own site has the Error body',
      async () => {
        const head = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
        const cases: [raw: string, status: number, code: string][] = [
          ['GARBAGE\r\n\r\n', 400, 'malformed_request'],
          ['GET /v1/pets HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
          ['GET /v1/pets HTTP/3.0\r\nHost: localhost\r\n\r\n', 400, 'malformed_request'],
          [head('GET /v1/pets/%zz'), 400, 'malformed_request'],
          [head('GET /v1/../../x'), 400, 'malformed_request'],
          [head('POST /v1/pets', 'Transfer-Encoding: gzip\r\n'), 400, 'malformed_request'],
          [head('TRACE /v1/pets'), 405, 'method_not_allowed'],
          [head(`GET /${'a'.repeat(40_000)}`), 414, 'uri_too_long'],
          [head('GET /v1/pets', `X: ${'a'.repeat(40_000)}\r\n`), 431, 'headers_too_large'],
        ];
        for (const [raw, status, code] of cases) {
          const response = await nginx.send(raw);
          expect([raw.slice(0, 60), response.status, codeOf(response)]).toEqual([
            raw.slice(0, 60),
            status,
            code,
          ]);
          expect(response.headers).toMatchObject({
            'content-type': 'application/json',
            'strict-transport-security': 'max-age=31536000',
          });
        }
        // Who asks without TLS is sent to the site, whatever name it was asked by.
        expect(await nginx.sentTo('/v1/pets?limit=1', 'evil.example')).toBe(
          'https://localhost/v1/pets?limit=1',
        );
        // A client cannot request nginx's internal error location, so its status is that of an unknown path.
        expect((await nginx.requestRaw('/.petstore/away')).status).toBe(
          (await fetch(`${service.url}/x`)).status,
        );
      },
    );

    it('every URL in a response leads back through nginx', async () => {
      const resolve = (target: string, from: string) => {
        const { href, origin, pathname, search } = new URL(target, nginx.url + from);
        expect(origin, href).toBe(nginx.url);
        expect(pathname.startsWith(`${prefix}/`), href).toBe(true);
        return pathname + search;
      };

      const listPath = `${prefix}/v1/pets?limit=2`;
      const list = await nginx.requestRaw(listPath, withKey);
      expect(list.status).toBe(200);
      const next = await nginx.requestRaw(resolve(linksOf(list.headers.link).next ?? '', listPath), withKey);
      expect(next.status).toBe(200);
      expect(next.body).not.toBe(list.body);

      const added = await nginx.requestRaw(`${prefix}/v1/pets`, {
        method: 'POST',
        ...withKey,
        body: '{"name":"Rex","categoryId":1}',
      });
      expect(added.status).toBe(201);
      const fetched = await nginx.requestRaw(resolve(added.headers.location ?? '', `${prefix}/v1/pets`), {
        ...withKey,
      });
      expect([fetched.status, fetched.body]).toEqual([200, added.body]);
      const deprecation = linksOf(fetched.headers.link).deprecation ?? '';
      expect((await nginx.requestRaw(resolve(deprecation, `${prefix}/v1/pets/1`))).status).toBe(200);

      const refused = await nginx.requestRaw(`${prefix}/v1/pets`);
      const help = linksOf(refused.headers.link).help ?? '';
      expect([refused.status, (await nginx.requestRaw(resolve(help, `${prefix}/v1/pets`))).status]).toEqual([
        401, 200,
      ]);
    });

    it('counts callers without a key by their own address, whatever they claim', async () => {
      const remaining = async (claimed: string) =>
        Number(
          (await nginx.requestRaw(`${prefix}/v1/pets`, { headers: { 'x-forwarded-for': claimed } })).headers[
            'x-ratelimit-remaining'
          ],
        );
      const first = await remaining('203.0.113.1');
      expect(await remaining('203.0.113.2')).toBe(first - 1);
    });

    it('hands on bodies up to what the service takes, and refusals of larger ones', async () => {
      const post = async (bytes: number) => {
        const { status, body } = await nginx.requestRaw(`${prefix}/v1/pets`, {
          method: 'POST',
          ...withKey,
          body: `{"name":"Rex","categoryId":1}${' '.repeat(bytes)}`,
        });
        return [status, (JSON.parse(body) as { code?: string }).code];
      };
      expect(await post(90_000)).toEqual([201, undefined]);
      expect(await post(2_000_000)).toEqual([413, 'payload_too_large']);
    });

    it('hands the path on as it was sent', async () => {
      const paths = [
        '/v1%2Fpets',
        '/v1/pets/%2F1',
        '//v1/pets',
        '/v1//pets',
        '//localhost/docs',
        '/v1/pets/%31',
      ];
      for (const path of paths) {
        const through = await nginx.requestRaw(prefix + path, withKey);
        const direct = await fetch(service.url + path, withKey);
        expect([path, through.status, through.body]).toEqual([path, direct.status, await direct.text()]);
      }
      // Only nginx's own reading of the path leads it below the prefix.
      for (const path of ['/%70etstore/v1/pets', '/x/../petstore/v1/pets'])
        if (prefix !== '') {
          const refused = await nginx.send(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
          expect([path, refused.status, codeOf(refused)]).toEqual([path, 404, 'route_not_found']);
        }
    });

    it('responds with the Error body itself while no instance responds, and says when to retry', async () => {
      await service.stop();
      const { status, headers, body } = await nginx.requestRaw(`${prefix}/v1/pets`);
      expect([status, headers['retry-after'], headers['content-type'], JSON.parse(body)]).toEqual([
        503,
        '1',
        'application/json',
        {
          code: 'service_unavailable',
          message: 'The service cannot handle the request right now: no instance responds.',
          status: 503,
        },
      ]);
    });
  });
});
