// What page 5,000 of a list costs beside page 1, over HTTP on the running service: `npm run bench:paging`. The pages are
// asked for in turn, in several rounds; quote the ratios, machines are noisy.
import { Agent, get } from 'node:http';
import { makeStore, median, startService } from './running-service.mjs';

const ANIMALS = 250_000;
const DEEP_PAGE = 5_000;
const LIMIT = 20;
const ROUNDS = 15;
const REQUESTS = 200;
/** What a deep page may cost of the first one. */
const MOST = 1.2;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const store = await makeStore(ANIMALS);
const { key } = store;
const { url, stop } = await startService(store);

/** Asks for a page; answers its status, its Link and its size. */
function ask(target) {
  return new Promise((resolve, reject) => {
    get(url + target, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode, link: response.headers.link, text }));
    }).on('error', reject);
  });
}

/** Walks to a page by rel="next", as a client does. */
async function targetOfPage(first, page) {
  let target = first;
  for (let at = 1; at < page; at += 1) {
    const { link = '' } = await ask(target);
    target = /<([^>]+)>; rel="next"/.exec(link)?.[1];
    if (target === undefined) throw new Error(`The list has only ${at} pages.`);
  }
  return target;
}

/** Milliseconds of one request, the median of many. */
async function timeOf(target) {
  const times = [];
  for (let sent = 0; sent < REQUESTS; sent += 1) {
    const began = performance.now();
    const { status, text } = await ask(target);
    times.push(performance.now() - began);
    if (status !== 200 || JSON.parse(text).length !== LIMIT)
      throw new Error(`${target} answered ${status}: ${text}`);
  }
  return median(times);
}

const rows = [];
for (const first of [`/v1/pets?limit=${LIMIT}`, `/v1/pets?limit=${LIMIT}&status=available`]) {
  const deep = await targetOfPage(first, DEEP_PAGE);
  await Promise.all([timeOf(first), timeOf(deep)]);
  const [firstTimes, deepTimes] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    // Whoever goes first in a round has the warmer machine.
    const pages = round % 2 === 0 ? [first, deep] : [deep, first];
    for (const page of pages) (page === first ? firstTimes : deepTimes).push(await timeOf(page));
  }
  const [page1, page5000] = [median(firstTimes), median(deepTimes)];
  rows.push({
    list: first,
    'page 1, ms': page1.toFixed(3),
    'page 5,000, ms': page5000.toFixed(3),
    ratio: (page5000 / page1).toFixed(3),
  });
}
await stop();
store.remove();
agent.destroy();
console.log(
  `${ANIMALS.toLocaleString('en')} animals on SQLite, limit ${LIMIT}, ${ROUNDS} rounds of ${REQUESTS} requests a page`,
);
console.table(rows);
const worst = Math.max(...rows.map(({ ratio }) => Number(ratio)));
console.log(`worst ratio ${worst} (goal: at most ${MOST})`);
process.exitCode = worst <= MOST ? 0 : 1;
