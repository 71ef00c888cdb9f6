// Preloaded by a process of a test: names are asked of the server at TEST_NAME_SERVER alone, and the system knows none.
import { promises as dns } from 'node:dns';

const server = process.env.TEST_NAME_SERVER;

dns.Resolver = class extends dns.Resolver {
  constructor(options) {
    super(options);
    this.setServers([server]);
  }
};
dns.lookup = (name) =>
  Promise.reject(Object.assign(new Error(`no hosts file: ${name}`), { code: 'ENOTFOUND' }));
