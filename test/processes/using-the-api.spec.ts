import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { OpenAPIObject } from '@nestjs/swagger';
import { expect, it } from 'vitest';
import { exampleOperations } from '../../src/docs/openapi/example-operations.js';
import { guideText } from '../../src/docs/pages/guide-page.js';
import { folderOfTest, serviceOfTest } from '../support/service-process.js';

const run = promisify(execFile);

it('every example of the guide runs as its page has it, and shows what is there', async () => {
  const path = await folderOfTest();
  const service = await serviceOfTest(path);
  const KEY = service.demoKey;
  const within = { cwd: path, env: { PATH: process.env.PATH, API: `${service.url}/v1`, KEY } };
  const response = await fetch(`${service.url}/docs/openapi.json`);
  const examples = exampleOperations((await response.json()) as OpenAPIObject);
  const guide = await guideText({ key: 'pst_test_…', examples: () => examples });
  const blocks = [...guide.matchAll(/```(sh|text)\n([^]*?)```/g)].slice(1);
  const outputs: string[] = [];
  for (const [, language, text = ''] of blocks) {
    if (language === 'text') {
      // An ellipsis stands for text that varies.
      const pattern = text
        .trim()
        .split('…')
        .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
        .join('[\\w-]+');
      expect(outputs.at(-1)?.replaceAll('\r', '').trim()).toMatch(new RegExp(`^${pattern}$`, 'i'));
      continue;
    }
    const { stdout, stderr } = await run('bash', ['--norc', '-euc', text], within);
    expect(stderr, text).toBe('');
    outputs.push(stdout);
  }
  const [, walked = ''] = outputs;
  const ids = [...walked.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id));
  expect(ids).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  expect(outputs).toHaveLength(6);
  const last = (outputs.at(-1) ?? '').trim().split('\n');
  expect(last.map((line) => JSON.parse(line) as object)).toMatchObject([
    { client: { name: 'Demo', plan: 'free' }, key: { bannedUntil: null } },
    { windows: [{ name: 'minute' }, { name: 'day', limit: 1_000 }] },
  ]);
});
