// Where compressing a response pays: `npm run bench:compression`. For what the service answers: bytes as they are and
// compressed, the time that compressing takes, and whether it saves a round trip (a new connection may send about ten
// segments, 14,600 bytes, before it waits for the client: RFC 6928).
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { makeStore, median, startService } from './running-service.mjs';

const FIRST_FLIGHT_BYTES = 14_600;
const TIMES = 200;

const store = await makeStore(1_000);
const { key } = store;
const { url, stop } = await startService(store);
const ways = {
  gzip: (bytes) => gzipSync(bytes),
  brotli: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
};
const rows = [];
for (const target of [
  '/v1/pets?limit=20',
  '/v1/pets?limit=100',
  '/docs/openapi.json',
  '/docs/swagger-ui-bundle.js',
]) {
  const headers = { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' };
  const bytes = Buffer.from(await (await fetch(url + target, { headers })).arrayBuffer());
  for (const [way, compress] of Object.entries(ways)) {
    const times = [];
    const compressed = compress(bytes).length;
    for (let done = 0; done < (bytes.length > 100_000 ? 5 : TIMES); done += 1) {
      const began = performance.now();
      compress(bytes);
      times.push(performance.now() - began);
    }
    rows.push({
      response: target,
      way,
      bytes: bytes.length,
      compressed,
      'time, ms': median(times).toFixed(3),
      'saves a round trip': bytes.length > FIRST_FLIGHT_BYTES ? 'yes' : 'no',
    });
  }
}
await stop();
store.remove();
console.table(rows);
