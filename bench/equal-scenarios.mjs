// What `npm run bench -- --only equal` asks of each server, and what the service's ratios should be.
import { NUMBER } from './random-load.mjs';

export const SERVICE = 'service';
export const FASTIFY = 'fastify-equal';
export const EXPRESS = 'express';
/** Pages of 20 that the list is read again from: all of 100,000 animals. */
const PAGES = 5_000;

/** The scenarios: the load of each server, or what makes it, and the goals of the service's requests per second to the others'. */
export function scenarios(servers, { key, spentKey }, animals) {
  const headers = { authorization: `Bearer ${key}` };
  const lists = ['', '&status=available', '&status=pending', '&status=sold'].map(
    (status) => `/v1/pets?limit=20${status}`,
  );
  const write = { path: '/v1/pets', body: '{"name":"Rex","categoryId":1}' };
  const unseen = (pages) => pages.map((page) => `${page}&asked=${NUMBER}`);
  const everywhere = (plan) => ({ [SERVICE]: plan, [FASTIFY]: plan, [EXPRESS]: plan });
  const withoutExpress = (plan) => ({ [SERVICE]: plan, [FASTIFY]: plan });
  const mixed = (share) => withoutExpress({ reads: lists, write, share, headers });
  return [
    {
      name: 'list from the cache',
      plans: everywhere({ reads: lists, headers }),
      goals: { [FASTIFY]: 1.5, [EXPRESS]: 1.5 },
    },
    {
      name: 'list, uncached',
      // Each has cursors of its own for the same pages; no address is asked for twice, so that no cache has it.
      plans: async () => ({
        [SERVICE]: { reads: unseen(await pagesOf(servers[SERVICE], headers)), headers },
        [FASTIFY]: { reads: unseen(await pagesOf(servers[FASTIFY], headers)), headers },
        [EXPRESS]: { reads: unseen(['/v1/pets?limit=20']), headers },
      }),
      goals: { [FASTIFY]: 1 },
    },
    {
      name: 'one animal at random',
      plans: everywhere({ reads: [`/v1/pets/${NUMBER}`], among: animals, headers }),
      goals: { [FASTIFY]: 1, [EXPRESS]: 0.8 },
    },
    {
      name: '429',
      plans: {
        ...withoutExpress({ reads: lists.slice(0, 1), headers: { authorization: `Bearer ${spentKey}` } }),
        [EXPRESS]: { reads: lists.slice(0, 1), headers },
      },
      isRefused: true,
      goals: { [FASTIFY]: 1 },
    },
    { name: 'list under 1 % POSTs', plans: mixed(0.01), goals: { [FASTIFY]: 1.5 } },
    { name: 'list under 5 % POSTs', plans: mixed(0.05), goals: { [FASTIFY]: 1.5 } },
    {
      name: 'POST, durable',
      plans: withoutExpress({ write, share: 1, headers }),
      goals: { [FASTIFY]: 2 },
    },
  ];
}

/** The addresses of all pages, as a client that follows rel="next" meets them; the first has a cursor of none. */
async function pagesOf({ url }, headers) {
  const pages = [];
  let path = '/v1/pets?limit=20';
  while (path !== undefined && pages.length < PAGES) {
    pages.push(path);
    const response = await fetch(url + path, { headers });
    await response.text();
    path = /<([^>]+)>; rel="next"/.exec(response.headers.get('link'))?.[1];
  }
  return pages;
}
