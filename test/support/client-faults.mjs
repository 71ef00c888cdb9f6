// Run on each platform beside the installed client: meets the faults that platforms tell each in their own way, and prints what
// the client makes of them as one line of JSON.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { PetstoreClient } from '@petstore-service/client';

const retry = { retries: 0 };
const JSON_HEAD = { 'Content-Type': 'application/json' };
/** What the server does with the next request. */
let fault = '';
const server = createServer((request, response) => {
  const cut = () => setTimeout(() => response.socket.destroy(), 50);
  if (fault === 'no answer') return;
  if (fault === 'no end') response.writeHead(200, JSON_HEAD).write('[');
  else if (fault === 'half') {
    response.writeHead(200, { ...JSON_HEAD, 'Content-Length': '500' }).write('[{"id":1', cut);
  } else if (fault === 'no last chunk') response.writeHead(200, JSON_HEAD).write('[]', cut);
  else response.writeHead(307, { Location: 'http://127.0.0.1:1/' }).end();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
const met = async (options, call) => {
  const client = new PetstoreClient({ baseUrl, apiKey: 'key', retry, ...options });
  return client.pets
    .list({}, call)
    .pages()
    .next()
    .then(String, (error) => error);
};
const found = {};
for (fault of ['no answer', 'no end', 'half', 'no last chunk', 'redirection'])
  found[fault] = (await met({ timeoutMs: 300 })).name;
for (fault of ['no answer', 'no end']) {
  const controller = new AbortController();
  const reason = new Error('no longer wanted');
  setTimeout(() => controller.abort(reason), 50);
  found[`aborted, ${fault}`] = (await met({}, { signal: controller.signal })) === reason;
}
found['nothing listens'] = (await met({ baseUrl: 'http://127.0.0.1:1/v1' })).name;
process.stdout.write(`${JSON.stringify(found)}\n`, () => process.exit());
