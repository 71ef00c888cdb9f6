// The scenarios of `npm run bench -- --only equal`, and the goals for the service's ratios.
import { NUMBER } from './random-load.mjs';

export const SERVICE = 'service';
export const FASTIFY = 'fastify-equal';
export const EXPRESS = 'express';
/** Number of pages of 20 animals: all 100,000 animals. */
const PAGES = 5_000;

/** The scenarios: the load for each server, or a function that returns it, and the goals for the ratio of the service's throughput to the others'. */
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
      // The servers have different cursors for the same pages. Each URL is requested only once, so that no response comes from a cache.
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

/** The paths of all pages, found by following rel="next" from the first page, which has no cursor. */
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
