// Preloaded into a process in a test. DNS queries are sent only to the server at TEST_NAME_SERVER. The system resolver resolves no name,
// and never responds for names that start with `silent`. The number of its concurrent lookups is written to stdout.
import { promises as dns } from 'node:dns';

const server = process.env.TEST_NAME_SERVER;
let running = 0;

dns.Resolver = class extends dns.Resolver {
  constructor(options) {
    super(options);
    this.setServers([server]);
  }
};
dns.lookup = async (name) => {
  running += 1;
  process.stdout.write(`look-ups by the system: ${running}\n`);
  if (name.startsWith('silent')) await new Promise(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  running -= 1;
  throw Object.assign(new Error(`unknown to the system: ${name}`), { code: 'ENOTFOUND' });
};
