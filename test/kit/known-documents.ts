import type { INestApplication } from '@nestjs/common';
import { outlinesOf } from '../../src/docs/openapi/document-outlines.js';
import { buildDocument } from '../../src/docs/openapi/document.js';
import type { ApiDocument } from './contract.js';
import type { TestServiceOptions } from './test-service-options.js';

/** Maximum number of cached document sets. */
const MAX_DOCUMENTS = 8;

/** Cached document sets by cache key, the most recently used last. */
const known = new Map<string, readonly ApiDocument[]>();
/** Module classes that tests have added. The index of a class identifies it in cache keys. */
const modules: unknown[] = [];

/**
 * The OpenAPI documents of a service that was opened with these options. Building them and compiling their validators takes half the time of
 * `open()` and the first requests, so services with the same time, environment and modules share them. Callers must not expose the documents
 * to tests, only copies of them.
 */
export function documentsOf(
  app: INestApplication,
  at: string,
  options: TestServiceOptions,
): readonly ApiDocument[] {
  const name = nameOf(at, options);
  if (name === undefined) return build(app);
  const documents = known.get(name) ?? build(app);
  known.delete(name);
  known.set(name, documents);
  for (const [oldest] of known) if (known.size > MAX_DOCUMENTS) known.delete(oldest);
  return documents;
}

/** The cache key; undefined if a function or a dynamic module may make services with equal options differ. */
function nameOf(
  at: string,
  { environment = {}, modules: added = [], override, prepare }: TestServiceOptions,
): string | undefined {
  if (override || prepare || added.some((one) => typeof one !== 'function')) return undefined;
  const indexes = added.map((one) => {
    if (!modules.includes(one)) modules.push(one);
    return modules.indexOf(one);
  });
  return JSON.stringify([at, environment, indexes]);
}

function build(app: INestApplication): readonly ApiDocument[] {
  return outlinesOf(app).map((outline) => ({
    prefix: outline.prefix,
    base: outline.base,
    document: buildDocument(app, outline),
  }));
}
