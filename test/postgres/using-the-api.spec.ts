import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RECIPES, whyNot } from '../support/int64-recipes.js';
import { emptyFolder, ServiceProcess } from '../support/service-process.js';

const readGuide = () => readFile(new URL('../../docs/using-the-api.md', import.meta.url), 'utf8');

/** A service with the demo catalogue, and the environment that the examples run in. */
async function started() {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  const service = await ServiceProcess.start(path);
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  const [, key = ''] = /Bearer (pst_test_\w+)/.exec(service.output) ?? [];
  return { path, environment: { PATH: process.env.PATH, API: `${service.url}/v1`, KEY: key } };
}

it('every example of docs/using-the-api.md runs as it stands, and shows what stands there', async () => {
  const { path, environment } = await started();
  const guide = await readGuide();
  const blocks = [...guide.matchAll(/```(sh|text)\n([^]*?)```/g)].map(([, language, text = '']) => ({
    language,
    text,
  }));
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

describe('the example of docs/using-the-api.md keeps an integer of 64 bits exact', () => {
  const path = (process.env.PATH ?? '').split(delimiter);

  it.for(RECIPES)('in $language', async (recipe, { skip }) => {
    const missing = whyNot(recipe, path);
    skip(missing !== undefined, missing);
    const { language, program, options = [], file: name = 'example', whole = (part) => part } = recipe;
    const [, code = ''] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(await readGuide()) ?? [];
    const { path: folder, environment } = await started();
    await addPet(environment);
    const file = join(folder, name);
    await writeFile(file, whole(code));
    // Go keeps what it has compiled in the home folder.
    const env = { ...environment, HOME: folder };
    const { stdout } = await promisify(execFile)(program, [...options, file], { cwd: folder, env });
    expect(stdout).toBe('9007199254740993\n');
  });
});

/** Adds an animal with a number that no double holds: examples that only read find it. */
async function addPet({ API, KEY }: { readonly API: string; readonly KEY: string }): Promise<void> {
  const { status } = await fetch(`${API}/pets`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' },
    body: '{"name":"Rex","categoryId":9007199254740993}',
  });
  expect(status).toBe(201);
}
