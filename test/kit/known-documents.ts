import type { INestApplication } from '@nestjs/common';
import { outlinesOf } from '../../src/docs/openapi/document-outlines.js';
import { buildDocument } from '../../src/docs/openapi/document.js';
import type { ApiDocument } from './contract.js';
import type { TestServiceOptions } from './test-service-options.js';

/** Maximum number of cached sets of documents. */
const MAX_DOCUMENTS = 8;

/** Documents by what they depend on, the one used last at the end. */
const known = new Map<string, readonly ApiDocument[]>();
/** Numbers of the classes that were added as modules. */
const modules: unknown[] = [];

/**
 * The OpenAPI documents of a service that was opened with these options. Building them and compiling their
 * validators takes half of an `open()` with its first requests, so services with the same time, environment and modules share them.
 * Callers that hand one out hand out a copy.
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

/** Undefined where two services may differ although they are opened alike: by a function, or a module that is made for one of them. */
function nameOf(
  at: string,
  { environment = {}, modules: added = [], override, prepare }: TestServiceOptions,
): string | undefined {
  if (override || prepare || added.some((one) => typeof one !== 'function')) return undefined;
  const places = added.map((one) => {
    if (!modules.includes(one)) modules.push(one);
    return modules.indexOf(one);
  });
  return JSON.stringify([at, environment, places]);
}

function build(app: INestApplication): readonly ApiDocument[] {
  return outlinesOf(app).map((outline) => ({
    prefix: outline.prefix,
    base: outline.base,
    document: buildDocument(app, outline),
  }));
}
