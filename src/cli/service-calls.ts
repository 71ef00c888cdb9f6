import { hostname, userInfo } from 'node:os';
import type { Type } from '@nestjs/common';
import type { Operator } from '../accounts/audited-changes.js';
import { ApiError } from '../errors/api-error.js';
import type { Page, PageRequest } from '../database/keyset-page.js';
import { ValidationPipe } from '../input/validation.pipe.js';

const PAGE_SIZE = 500;
const pipe = new ValidationPipe();

/** Who runs the command line: it stands in the audit trail as user@host, and may grant every scope. */
export function commandLineOperator(): Operator {
  return {
    kind: 'command_line',
    keyId: null,
    from: `${userName()}@${hostname()}`,
    requestId: null,
    scopes: 'all',
  };
}

/** A container may run under a number that no user has. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/**
 * Options as an instance of the class that validates the same request over HTTP: rules and messages are the same. An option
 * that was left out stays undefined. Throws validation_failed with every fault.
 */
export async function inputOf<T extends object>(metatype: Type<T>, options: object): Promise<T> {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return (await pipe.transform(given, { type: 'body', metatype })) as T;
}

/** What an error says of single values, with options in place of fields; empty when it is about something else. */
export function valueFaults(error: unknown): { readonly option: string; readonly text: string }[] {
  if (!(error instanceof ApiError)) return [];
  return (error.body.details ?? []).map(({ field, message }) => {
    const option = optionOf(field);
    return { option, text: option === '' ? message : `${option}: ${message}` };
  });
}

function optionOf(field: string): string {
  if (field === '') return '';
  return `--${field.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The first rows of a list, or all of them, read page by page. */
export async function everyPage<T>(
  list: (page: PageRequest) => Promise<Page<T>>,
  most = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const rows: T[] = [];
  let page = await list({ limit: Math.min(PAGE_SIZE, most) });
  rows.push(...page.items);
  while (page.next && rows.length < most) {
    page = await list({ limit: Math.min(PAGE_SIZE, most - rows.length), after: page.next });
    rows.push(...page.items);
  }
  return rows;
}
