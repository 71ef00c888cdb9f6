import { describe, expect, it } from 'vitest';
import { BackupFolder, drillLines } from '../support/backup-folder.js';
import { type ServiceProcess, petstore } from '../support/service-process.js';

/** The status and the code of what a key is answered. */
async function asked({ url }: ServiceProcess, key: string): Promise<[number, string | undefined]> {
  const response = await fetch(`${url}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } });
  const body = (await response.json()) as { code?: string };
  return [response.status, body.code];
}

describe('the drill of docs/operations/clients-and-keys.md for a key that leaked', () => {
  it('ends the key and what it made, tells what it did, and lets the client go on', async () => {
    const [verify = '', show = '', rotate = '', audit = '', list = '', suspend = '', resume = '', ...more] =
      await drillLines('clients-and-keys.md', 'leak');
    expect(more).toEqual([]);
    const folder = await BackupFolder.make();
    const service = await folder.start();
    const made = async (...args: string[]) => {
      const { stdout, stderr } = await petstore(folder.path, [...args, '--json']);
      expect(stderr).toBe('');
      return JSON.parse(stdout) as { id: string; key: string };
    };
    const { id: CLIENT } = await made('client', 'create', '--name', 'Shop', '--plan', 'pro');
    const leaked = await made('key', 'issue', '--client', CLIENT, '--scopes', 'pets:read,account');
    const KEY = leaked.key;
    // The thief reads, and makes itself a key.
    expect(await asked(service, KEY)).toEqual([200, undefined]);
    const order = await fetch(`${service.url}/account/keys`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ scopes: ['pets:read'], label: 'mine now' }),
    });
    const stolen = (await order.json()) as { id: string; key: string };
    expect(order.status).toBe(201);
    expect(await asked(service, stolen.key)).toEqual([200, undefined]);

    const run = async (line: string) => {
      const { code, output } = await folder.shell(line, { KEY, CLIENT });
      expect([line, code, output.includes(KEY)]).toEqual([line, 0, false]);
      return output;
    };
    expect(await run(verify)).toContain('the shape and the checksum of a test key');
    expect(await run(show)).toContain(leaked.id);
    const [successor = ''] = /pst_\w+/.exec(await run(rotate)) ?? [];
    await expect.poll(() => asked(service, KEY)).toEqual([401, 'revoked_api_key']);
    expect(await asked(service, successor)).toEqual([200, undefined]);

    expect(await run(audit)).toContain(stolen.id);
    expect(await run(list)).toContain(stolen.id);
    expect((await petstore(folder.path, ['key', 'revoke', stolen.id, '--yes'])).code).toBe(0);
    await expect.poll(() => asked(service, stolen.key)).toEqual([401, 'revoked_api_key']);

    await run(suspend);
    await expect.poll(() => asked(service, successor)).toEqual([403, 'client_suspended']);
    await run(resume);
    await expect.poll(() => asked(service, successor)).toEqual([200, undefined]);
  });

  it('says how to end a key at once that somebody rotated with a grace before', async () => {
    const [, , rotate = ''] = await drillLines('clients-and-keys.md', 'leak');
    const folder = await BackupFolder.make();
    const service = await folder.start();
    const KEY = folder.key;
    expect((await petstore(folder.path, ['key', 'rotate', KEY])).code).toBe(0);
    const refused = await folder.shell(rotate, { KEY });
    expect(refused).toEqual({
      code: 1,
      output: expect.stringMatching(/was rotated already[^]*`petstore key revoke`/) as string,
    });
    expect(await asked(service, KEY)).toEqual([200, undefined]);
    const revoked = await folder.shell('printf %s "$KEY" | npx petstore key revoke - --yes', { KEY });
    expect(revoked.code).toBe(0);
    await expect.poll(() => asked(service, KEY)).toEqual([401, 'revoked_api_key']);
  });
});
