import { expect, it } from 'vitest';
import { spawnPetstore, folderOfTest, petstore, serviceOfTest } from '../support/service-process.js';

it('webhook listen prints the messages of a running service, and deletes its endpoint at Ctrl-C', async () => {
  const path = await folderOfTest();
  const settings = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1/32', ADMIN_ON: 'management' };
  const service = await serviceOfTest(path, settings);
  await expect.poll(() => service.output).toMatch(/Metrics on port \d+ at \/metrics, \/admin and \/console/);
  const { child, outcome } = spawnPetstore(path, ['webhook', 'listen', '--json'], settings);
  let printed = '';
  child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await expect.poll(() => printed, { timeout: 60_000 }).toContain('"type":"webhook.test"');
  const { status } = await service.request('POST', '/v1/pets', { json: { name: 'Rex', categoryId: 1 } });
  expect(status).toBe(201);
  await expect.poll(() => printed, { timeout: 60_000 }).toContain('"name":"Rex"');
  child.kill('SIGINT');
  expect(await outcome).toMatchObject({ code: 0, stderr: expect.stringContaining('was deleted') });
  expect(JSON.parse((await petstore(path, ['webhook', 'list', '--json'], settings)).stdout)).toEqual([]);
  expect((await service.stop()).code).toBe(0);
});

it('webhook listen suggests that the service may not run when no message arrives', async () => {
  const path = await folderOfTest();
  const settings = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1/32' };
  await petstore(path, ['client', 'create', '--name', 'Shop', '--plan', 'free'], settings);
  const { child, outcome } = spawnPetstore(path, ['webhook', 'listen'], settings);
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await expect.poll(() => output).toContain('The test message has not arrived. Is the service running, with');
  child.kill('SIGINT');
  expect(await outcome).toMatchObject({ code: 0, stderr: expect.stringContaining('was deleted') });
});
