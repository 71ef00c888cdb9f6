import type { INestApplication } from '@nestjs/common';
import { outlinesOf } from '../../src/docs/openapi/document-outlines.js';
import { buildDocument } from '../../src/docs/openapi/document.js';
import type { DocumentBelow } from './contract.js';
import type { TestServiceOptions } from './test-service-options.js';

/** How many sets of documents are kept: those of the services that a suite opens again and again. */
const KEPT = 8;

/** Documents by what they depend on, the one used last at the end. */
const known = new Map<string, readonly DocumentBelow[]>();
/** Each class that was added as a module, for a name of it. */
const modules: unknown[] = [];

/**
 * The OpenAPI documents of a service that was opened with these options. To build them, and to compile what checks answers against
 * them, takes half of an `open()` with its first requests; so services with the same time, environment and modules share them. Whoever
 * gives one away gives a copy.
 */
export function documentsOf(
  app: INestApplication,
  at: string,
  options: TestServiceOptions,
): readonly DocumentBelow[] {
  const name = nameOf(at, options);
  if (name === undefined) return build(app);
  const documents = known.get(name) ?? build(app);
  known.delete(name);
  known.set(name, documents);
  for (const [oldest] of known) if (known.size > KEPT) known.delete(oldest);
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

function build(app: INestApplication): readonly DocumentBelow[] {
  return outlinesOf(app).map((outline) => ({
    prefix: outline.prefix,
    base: outline.base,
    document: buildDocument(app, outline),
  }));
}
