import { beforeAll, describe, expect, it } from 'vitest';
import { operationsOf } from '../../src/cli/operations/operations.js';
import { ADMIN_DOCUMENT, jsonHere, petstoreHere } from '../support/petstore-here.js';
import { emptyFolder, ServiceProcess } from '../support/service-process.js';

/** A server of the same database without administration, and without Redis. */
const ENVIRONMENT = { ADMIN_ON: 'off', REDIS_URL: 'redis://127.0.0.1:1' };
const URL = 'https://shop.example.com/hooks';

let folder: string;
let service: ServiceProcess;
beforeAll(async () => {
  const { path, remove } = await emptyFolder();
  service = await ServiceProcess.start((folder = path), { ADMIN_ON: 'off' });
  return () => service.stop().then(remove);
});

describe('alongside a server, with ADMIN_ON=off and without Redis', () => {
  it('every command for an operation works, but for one that lifts a ban, and the server logs none', async () => {
    const run = (line: string) => jsonHere(folder, line.split(' '), ENVIRONMENT);
    const { id: client, key } = await run('client create --name Shop --plan pro --issue-key');
    const { id: hook } = await run(`webhook create --client Shop --url ${URL} --events pets.created`);
    const { id: delivery } = await run(`webhook test ${hook}`);
    const { id: successor } = await run(`key rotate ${key.id}`);
    const done = ['client create', 'webhook create', 'webhook test', 'key rotate'];
    const lines = [
      'overview show',
      'overview search Shop',
      'client list',
      `client show ${client}`,
      `client set-plan ${client} --plan business`,
      `client rename ${client} --name Other`,
      `client suspend ${client}`,
      `client resume ${client}`,
      'plan list',
      `key issue --client ${client}`,
      'key list',
      `key show ${key.key}`,
      `key update ${successor} --label Web`,
      `key revoke ${successor} --yes`,
      'scope list',
      'usage list',
      'request list',
      'audit list',
      'webhook list',
      `webhook show ${hook}`,
      `webhook update ${hook} --label Web`,
      `webhook disable ${hook}`,
      `webhook enable ${hook}`,
      `webhook rotate ${hook}`,
      `webhook deliveries ${hook}`,
      `webhook delivery ${delivery}`,
      `webhook redeliver ${delivery}`,
      `webhook retry ${hook}`,
      `webhook retry-delivery ${delivery}`,
      `webhook delete ${hook} --yes`,
      'webhook events',
      `client export ${client}`,
      `client delete ${client} --yes`,
      `client erase ${client} --yes`,
    ];
    const unban = await petstoreHere(folder, ['key', 'unban', successor], ENVIRONMENT);
    expect(unban).toMatchObject({ code: 1, stderr: expect.stringMatching(/ban cannot be lifted/) });
    expect((await petstoreHere(folder, ['request', 'show', 'x'], ENVIRONMENT)).stderr).toMatch(
      /No request x was found/,
    );
    for (const line of lines) await run(line);
    expect((await petstoreHere(folder, ['audit', 'export'], ENVIRONMENT)).stdout).toMatch(
      /client\.deleted,command_line/,
    );
    const called = new Set([
      ...done,
      'key unban',
      'request show',
      'audit export',
      ...lines.map((line) => line.split(' ', 2).join(' ')),
    ]);
    expect(operationsOf(ADMIN_DOCUMENT).filter(({ command: words }) => !called.has(words))).toEqual([]);
    expect(service.lines.filter(({ msg }) => msg.includes('/admin'))).toEqual([]);
  });
});
