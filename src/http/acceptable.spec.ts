import { describe, expect, it } from 'vitest';
import { accepts } from './media-type.js';

const JSON_TYPE = 'application/json';

describe('an Accept', () => {
  it.each([
    '*/*',
    'application/json',
    'Application/JSON',
    'application/*',
    'application/json; charset=utf-8',
    'application/json;q=0.001',
    'application/json ; q=0.5 ; ext=1',
    'text/html, application/json',
    'text/html;title="application/json;q=0,", */*;q=0.1',
    'text/html;x="\\",application/json", application/json',
    'application/*;q=0, application/json',
    '*/*;q=0, application/json;q=0.1',
    'application/json;version=1;q=0, application/json',
    'application/json, application/json;version=1;q=0',
    'application/json;version=2;q=0, */*',
    'application/json;q=',
    ',, ,application/json,',
    '',
  ])('%j takes JSON', (accept) => {
    expect(accepts(accept, JSON_TYPE)).toBe(true);
  });

  it.each([
    'text/html',
    'application',
    '*',
    '*/json',
    'application/problem+json',
    'app*/*',
    'application/json;q=0',
    'application/json; q=0.000',
    'application/json;version=1;q=0',
    'application/json;q=0, */*',
    'application/*;q=0, */*',
    '*/*;q=0',
    'text/html;x="application/json"',
    'text/html;x="\\",application/json',
    ',',
  ])('%j does not', (accept) => {
    expect(accepts(accept, JSON_TYPE)).toBe(false);
  });

  it.each([
    ['ranges', 'a/b,'],
    ['commas', ','],
    ['quotes', '"'],
    ['quoted commas', 'a/b;c=",",'],
    ['parameters', ';q="'],
    ['zeros', 'application/json;q=0'],
    ['weights', 'application/json;q=0,'],
    ['slashes', '*/*;'],
  ])('of 16 KiB of %s is read in a moment', (_, part) => {
    const accept = part.repeat(16_384 / part.length);
    // Measures processor time, because other processes may use the machine at the same time.
    const begin = process.cpuUsage();
    for (let run = 0; run < 10; run += 1) accepts(accept, JSON_TYPE);
    expect(process.cpuUsage(begin).user / 1_000).toBeLessThan(500);
  });
});
