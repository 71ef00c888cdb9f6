import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Metrics } from './metrics.js';

const REQUESTS = ['requests_total', 'Requests.', ['method', 'route', 'status']] as const;
const text = fc.constantFrom('GET', 'POST', '/v1/pets', 'a b', '', '"', '\\', '\n');
const request = fc.tuple(text, text, fc.integer({ min: 200, max: 203 }));

it('exports the counts that a counter of prom-client would, at each scrape', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 100 }), async (requests) => {
      const [metrics, expected] = [new Metrics(), new Metrics()];
      const [tally, counter] = [metrics.tally(...REQUESTS), expected.counter(...REQUESTS)];
      for (const [method, route, status] of requests) {
        tally.add(method, route, status);
        counter.inc({ method, route, status });
      }
      const counts = await countsIn(expected);
      expect(await countsIn(metrics)).toEqual(counts);
      expect(await countsIn(metrics)).toEqual(counts);
    }),
    { numRuns: 50 },
  );
});

async function countsIn(metrics: Metrics): Promise<string[]> {
  const lines = (await metrics.exposition()).text.split('\n');
  return lines.filter((line) => line.includes('requests_total')).toSorted();
}
