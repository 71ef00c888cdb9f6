// An instance of the service that inserts rows at the rate that it is told by `/<table>/<rows a second>`, and answers how many it has
// inserted since it was told before. They are inserted as the repository of a feature does it, by statements of their own.
import { createServer } from 'node:http';
import { DataSource } from 'typeorm';
import { createApp } from '../../dist/src/app.setup.js';

const app = await createApp({ logger: false });
await app.listen(0);
const dataSource = app.get(DataSource);
let timer;
let written = 0;

const server = createServer((request, response) => {
  const [, table, rate] = request.url.split('/');
  clearInterval(timer);
  response.end(String(written));
  written = 0;
  const began = performance.now();
  let asked = 0;
  const insert = () => {
    for (; asked < ((performance.now() - began) * rate) / 1_000; asked += 1)
      void dataSource
        .query(`INSERT INTO "${table}" (name, category_id, status) VALUES ('Rex', 1, 'available')`)
        .then(() => (written += 1));
  };
  if (Number(rate) > 0) timer = setInterval(insert, 2);
}).listen(0, () => process.send({ port: server.address().port }));
