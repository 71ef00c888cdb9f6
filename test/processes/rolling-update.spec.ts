import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.js';
import { Nginx, ownSite } from '../support/nginx.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { clientWithKey } from '../support/petstore-here.js';
import { folderOfTest, ServiceProcess } from '../support/service-process.js';

const CLIENTS = 4;
/** Answers that must have come between two stops, so that each meets a load that runs. */
const BETWEEN_STOPS = 80;

/** Clients that add animals and list them in turn, each when its last answer is there. */
class Shoppers {
  readonly refused: string[] = [];
  readonly added = new Set<string>();
  answers = 0;
  private isOver = false;
  private readonly all: Promise<unknown>;

  constructor(
    private readonly nginx: Nginx,
    private readonly key: string,
  ) {
    this.all = Promise.all(Array.from({ length: CLIENTS }, (_, client) => this.shop(client)));
  }

  async untilAnswered(more: number): Promise<void> {
    const enough = this.answers + more;
    while (this.answers < enough) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.all;
  }

  private async shop(client: number): Promise<void> {
    const headers = { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' };
    for (let visit = 0; !this.isOver; visit += 1) {
      const name = `${client}-${visit}`;
      const body = JSON.stringify({ name, categoryId: 1 });
      await this.count('POST', 201, () => this.nginx.ask('/v1/pets', { method: 'POST', headers, body }));
      this.added.add(name);
      await this.count('GET', 200, () => this.nginx.ask('/v1/pets?limit=5', { headers }));
    }
  }

  private async count(
    method: string,
    expected: number,
    ask: () => Promise<{ status: number; body: string }>,
  ) {
    try {
      const { status, body } = await ask();
      if (status !== expected) this.refused.push(`${method} ${status} ${body.slice(0, 200)}`);
    } catch (error) {
      this.refused.push(`${method} ${String(error)}`);
    }
    this.answers += 1;
  }
}

describeWith('nginx', 'an update of two instances behind nginx, one after the other', () => {
  it('refuses no request, and carries each one out once', async () => {
    const path = await folderOfTest();
    const redis = await RedisServer.ofTest();
    const ports = [await freePort(), await freePort()];
    const start = (port: number) =>
      ServiceProcess.start(path, { PORT: String(port), REDIS_URL: redis.url, TRUST_PROXY: '1' });
    const instances = [await start(ports[0] ?? 0), await start(ports[1] ?? 0)];
    onTestFinished(async () => {
      await Promise.all(instances.map((instance) => instance.stop('SIGKILL')));
    });
    const { key } = await clientWithKey(path, { REDIS_URL: redis.url });
    const nginx = await Nginx.start(ownSite(instances.map(({ url }) => url)));
    onTestFinished(() => nginx.stop());

    const shoppers = new Shoppers(nginx, key);
    for (const [index, port] of ports.entries()) {
      await shoppers.untilAnswered(BETWEEN_STOPS);
      expect((await instances[index]?.stop('SIGTERM'))?.code).toBe(0);
      await shoppers.untilAnswered(BETWEEN_STOPS);
      instances[index] = await start(port);
    }
    await shoppers.untilAnswered(BETWEEN_STOPS);
    await shoppers.end();
    // An instance that is away refuses connections, which nginx tries elsewhere: the faults in between explain a failure.
    const faults = nginx.faults.split('\n').filter((line) => !line.includes('(111: Connection refused)'));
    expect(shoppers.refused, faults.join('\n')).toEqual([]);

    const listed: string[] = [];
    for (let next: string | undefined = '/v1/pets?limit=100'; next !== undefined;) {
      const page: Awaited<ReturnType<Nginx['ask']>> = await nginx.ask(next, {
        headers: { authorization: `Bearer ${key}` },
      });
      for (const { name } of JSON.parse(page.body) as { name: string }[])
        if (/^\d+-\d+$/.test(name)) listed.push(name);
      next = /<([^>]*)>; rel="next"/.exec(String(page.headers.link))?.[1];
    }
    expect(listed.toSorted()).toEqual([...shoppers.added].toSorted());
  });
});
