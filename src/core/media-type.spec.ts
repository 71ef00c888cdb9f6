import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accepts, isJsonInUtf8 } from './media-type.js';

const JSON_TYPE = 'application/json';
const NEAREST_FIRST = [JSON_TYPE, 'application/*', '*/*'];

describe('an Accept', () => {
  it.each([
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;q=0.001',
    'application/json ; q=0.5 ; ext=1',
    'text/html;title="application/json;q=0,", */*;q=0.1',
    'text/html;x="\\",application/json", application/json',
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
    'application/json; charset=utf8; q=0',
    'application',
    '*',
    '*/json',
    'application/problem+json',
    'app*/*',
    'application/json;version=1;q=0',
    'text/html;x="application/json"',
    'text/html;x="\\",application/json',
    ',',
  ])('%j does not', (accept) => {
    expect(accepts(accept, JSON_TYPE)).toBe(false);
  });

  it('of any ranges and weights is decided by the most specific range, in any spelling', () => {
    const element = fc.record({
      range: fc.constantFrom(...NEAREST_FIRST, 'text/html', 'a/b;x="\\",*/*;q=0"'),
      weight: fc.constantFrom('', ';q=0', ' ; Q=0.000', ';q=0.5', '; q=1'),
      comma: fc.constantFrom(',', ' , ', ',,'),
    });
    fc.assert(
      fc.property(fc.array(element, { minLength: 1 }), (elements) => {
        const accept = elements.map(({ range, weight, comma }) => range + weight + comma).join('');
        const nearest = NEAREST_FIRST.find((range) => elements.some((one) => one.range === range));
        const isAccepted = elements.some(
          ({ range, weight }) => range === nearest && !/=0(?:\.0+)?$/.test(weight),
        );
        expect(accepts(accept, JSON_TYPE)).toBe(isAccepted);
      }),
    );
  });
});

describe('a Content-Type', () => {
  it.each([
    'Application/JSON',
    'application/json; Charset="utf-8"',
    'application/json;charset=UTF8',
    'application/json; charset="utf8"',
    'application/json; foo="a;charset=latin1,b\\""; charset=utf-8',
    'application/json; ;charset=utf-8;',
  ])('%j is JSON in UTF-8', (header) => {
    expect(isJsonInUtf8(header)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'json',
    'text/plain',
    'application/jsonp',
    'application/merge-patch+json',
    'application/json, text/plain',
    'application/json, application/json',
    'application/json; charset',
    'application/json; charset = utf-8',
    'application/json; charset="utf-8',
    'application/json; =utf-8',
    'application/json charset=utf-8',
  ])('%j is not', (header) => {
    expect(isJsonInUtf8(header)).toBe(false);
  });

  it('is JSON in UTF-8 with any parameters of which none is another charset', () => {
    const parameter = fc.tuple(
      fc.constantFrom('foo', 'Bar', 'charset', 'Charset'),
      fc.constantFrom('utf-8', '"UTF-8"', 'utf8', 'latin1', '"a;charset=latin1"', '"\\""'),
      fc.constantFrom(';', '; ', ' ;\t', '; ;'),
    );
    fc.assert(
      fc.property(fc.array(parameter), (parameters) => {
        const header = parameters.map(([name, value, behind]) => `${behind}${name}=${value}`).join('');
        const isUtf8 = parameters.every(
          ([name, value]) => name.toLowerCase() !== 'charset' || /^"?utf-?8"?$/i.test(value),
        );
        expect(isJsonInUtf8(`application/json${header}`)).toBe(isUtf8);
      }),
    );
  });
});
