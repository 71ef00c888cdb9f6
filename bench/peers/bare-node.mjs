// Node's own HTTP server and nothing else. How much its throughput drops with many connections is the cost of the connections themselves.
import { createServer } from 'node:http';

const animal = { id: 1, name: 'Rex', categoryId: 1, status: 'available' };
const body = JSON.stringify(Array.from({ length: 20 }, (_, index) => ({ ...animal, id: index + 1 })));

const server = createServer((_, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Content-Length', body.length);
  response.end(body);
});
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));
