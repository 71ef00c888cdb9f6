// Generates a client from each OpenAPI document with popular generators and compiles it with `strict`: `npm run generators
// [-- orval kubb]`. Each generator is installed in a separate temporary folder, together with a version of Node.js that it supports, so that
// none of them becomes a dependency. Prints one line per client. Exits with 1 if any of them fails.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const DOCUMENTS = ['openapi', 'openapi-admin', 'openapi-account'].filter((name) =>
  existsSync(join(root, 'docs', `${name}.json`)),
);
/** A version of Node.js that all generators support, as an npm package. */
const NODE = `node-${process.platform}-${process.arch}@22`;
const TYPESCRIPT = 'typescript@5.9';

const kubb = (input, output) => `import { defineConfig } from '@kubb/core';
import { pluginOas } from '@kubb/plugin-oas';
import { pluginTs } from '@kubb/plugin-ts';
import { pluginClient } from '@kubb/plugin-client';
export default defineConfig({
  input: { path: '${input}' },
  output: { path: '${output}', clean: true },
  plugins: [pluginOas(), pluginTs(), pluginClient({ client: 'fetch' })],
});
`;

/** The generators: name, packages, an optional function that writes a configuration file, and the command to run. */
const GENERATORS = [
  {
    name: 'openapi-typescript',
    packages: ['openapi-typescript@7'],
    run: (input, output) => ['openapi-typescript', input, '-o', `${output}/client.ts`],
  },
  {
    name: '@hey-api/openapi-ts',
    packages: ['@hey-api/openapi-ts@0.99'],
    run: (input, output) => ['openapi-ts', '-i', input, '-o', output],
  },
  {
    name: 'orval',
    packages: ['orval@8'],
    run: (input, output) => [
      'orval',
      '--input',
      input,
      '--output',
      `${output}/client.ts`,
      '--client',
      'fetch',
    ],
  },
  {
    name: 'kubb',
    packages: ['cli', 'core', 'plugin-oas', 'plugin-ts', 'plugin-client'].map((part) => `@kubb/${part}@4`),
    prepare: (folder, input, output) => writeFileSync(join(folder, 'kubb.config.mjs'), kubb(input, output)),
    run: () => ['kubb', 'generate', '--config', 'kubb.config.mjs'],
  },
  {
    name: 'openapi-zod-client',
    packages: ['openapi-zod-client@1', '@zodios/core@10', 'zod@3', 'axios@1'],
    run: (input, output) => ['openapi-zod-client', input, '-o', `${output}/client.ts`],
  },
];

const names = process.argv.slice(2);
for (const generator of GENERATORS) {
  if (names.length > 0 && !names.includes(generator.name)) continue;
  const folder = mkdtempSync(join(tmpdir(), 'petstore-client-'));
  try {
    for (const line of triedIn(folder, generator)) console.log(line);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function triedIn(folder, { name, packages, prepare, run }) {
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}\n');
  const install = [
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    NODE,
    TYPESCRIPT,
    '@types/node@22',
  ];
  const installed = called(folder, 'npm', [...install, ...packages]);
  if (installed) return [outcome(name, '', `cannot be installed\n${installed}`)];
  return DOCUMENTS.map((document) => {
    const [input, output] = [`${document}.json`, `client-${document}`];
    copyFileSync(join(root, 'docs', input), join(folder, input));
    mkdirSync(join(folder, output));
    prepare?.(folder, `./${input}`, `./${output}`);
    const [command, ...rest] = run(`./${input}`, `./${output}`);
    const failed = called(folder, command, rest);
    if (failed) return outcome(name, document, `does not generate\n${failed}`);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(strict(output)));
    const broken = called(folder, 'tsc', ['-p', 'tsconfig.json']);
    return outcome(name, document, broken && `does not compile\n${broken}`);
  });
}

/** Compiler options with `strict`, as in a new TypeScript project. */
function strict(output) {
  return {
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'ES2022',
      module: 'ESNext',
      moduleResolution: 'Bundler',
      allowImportingTsExtensions: true,
      lib: ['ES2022', 'DOM', 'DOM.Iterable'],
      types: ['node'],
      skipLibCheck: true,
    },
    include: [`${output}/**/*.ts`],
  };
}

/** Runs a command in a folder. Returns its output if it fails, and an empty string otherwise. */
function called(folder, command, rest) {
  const binaries = [
    join(folder, 'node_modules', '.bin'),
    join(folder, 'node_modules', NODE.split('@')[0], 'bin'),
  ];
  const env = { ...process.env, PATH: [...binaries, process.env.PATH].join(delimiter), CI: '1' };
  const { status, error, stdout, stderr } = spawnSync(command, rest, { cwd: folder, env, encoding: 'utf8' });
  return status === 0 ? '' : `${error ?? ''}${stdout}${stderr}`.slice(-4_000) || `exit code ${status}`;
}

function outcome(name, document, failure) {
  if (failure) process.exitCode = 1;
  return `${name} ${document}: ${failure || 'compiles with strict'}`;
}
