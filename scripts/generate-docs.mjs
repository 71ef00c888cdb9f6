// Writes the generated files that are committed: docs/openapi.json, docs/openapi-account.json, docs/openapi-admin.json, .env.example, and
// the generated part of the typed client. test/api/checkout/generated-files.spec.ts fails if they are out of date.
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildIfStale } from './build-if-stale.mjs';
import { GENERATED, absentOperations, writeClientFiles } from './generate-client.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const built = (path) => import(pathToFileURL(join(root, 'dist', 'src', path)).href);

buildIfStale();
// The settings of this machine must not affect the generated files.
process.chdir(join(root, 'docs'));
for (const name of Object.keys(process.env))
  if (/^(?:API_\w+|PUBLIC_BASE_URL|STAGING_BASE_URL|PLANS)$/.test(name)) delete process.env[name];
process.env.DATABASE_URL = 'sqlite::memory:';
const { createApp } = await built('app.setup.js');
const { ACCOUNT_DOCUMENT, ADMIN_DOCUMENT, API_DOCUMENT } = await built('docs/openapi/document-outlines.js');
const { buildDocument } = await built('docs/openapi/document.js');
const { writeExactJson } = await built('core/exact-json.js');
const { declaredSettings, exampleEnvironment } = await built('core/config/define-settings.js');
const { envExample } = await built('core/config/env-example.js');

Object.assign(process.env, exampleEnvironment());
const app = await createApp({ logger: false });
await app.init();
const document = JSON.parse(writeExactJson(buildDocument(app, API_DOCUMENT)));
const account = buildDocument(app, ACCOUNT_DOCUMENT);
const administration = buildDocument(app, ADMIN_DOCUMENT);
await app.close();
writeFileSync(join(root, 'docs/openapi.json'), `${writeExactJson(document, 2)}\n`);
writeFileSync(join(root, 'docs/openapi-account.json'), `${writeExactJson(account, 2)}\n`);
writeFileSync(join(root, 'docs/openapi-admin.json'), `${writeExactJson(administration, 2)}\n`);
const client = join(root, GENERATED);
const absent = existsSync(client) ? absentOperations(client, [document, account]) : [];
if (absent.length > 0)
  console.error(
    `clients/typescript was not updated: it calls ${absent.join(', ')}, which the documents do not define.`,
  );
else if (existsSync(client)) await writeClientFiles(client, [document, account]);
writeFileSync(join(root, '.env.example'), envExample(declaredSettings()));
