import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { emptyFolder, ServiceProcess } from './support/service-process.js';

it('every example of docs/using-the-api.md runs as it stands, and shows what stands there', async () => {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  const service = await ServiceProcess.start(path);
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  const [, key = ''] = /Bearer (pst_test_\w+)/.exec(service.output) ?? [];
  const guide = await readFile(new URL('../docs/using-the-api.md', import.meta.url), 'utf8');
  const blocks = [...guide.matchAll(/```(sh|text)\n([^]*?)```/g)].map(([, language, text = '']) => ({
    language,
    text,
  }));
  const environment = { PATH: process.env.PATH, API: `${service.url}/v1`, KEY: key };
  const outputs: string[] = [];
  for (const { language, text } of blocks.slice(1)) {
    if (language === 'text') {
      // A dash of three stands for what differs from time to time.
      const pattern = text
        .trim()
        .split('…')
        .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
        .join('[\\w-]+');
      expect(outputs.at(-1)?.replaceAll('\r', '').trim()).toMatch(new RegExp(`^${pattern}$`, 'i'));
      continue;
    }
    const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-euc', text], {
      cwd: path,
      env: environment,
    });
    expect(stderr, text).toBe('');
    outputs.push(stdout);
  }
  const [, walked = ''] = outputs;
  const ids = [...walked.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id));
  expect(ids).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  expect(outputs).toHaveLength(6);
  const [who, used] = (outputs.at(-1) ?? '')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(who).toMatchObject({ client: { name: 'Demo', plan: 'free' }, key: { bannedUntil: null } });
  expect(used).toMatchObject({ windows: [{ name: 'minute' }, { name: 'day', limit: 1_000 }] });
});
