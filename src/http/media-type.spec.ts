import { describe, expect, it } from 'vitest';
import { isJsonInUtf8 } from './media-type.js';

describe('a Content-Type', () => {
  it.each([
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json; Charset="utf-8"',
    'application/json; foo=bar',
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
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-8; charset=latin1',
    'application/json; charset',
    'application/json; charset = utf-8',
    'application/json; charset="utf-8',
    'application/json; =utf-8',
    'application/json charset=utf-8',
  ])('%j is not', (header) => {
    expect(isJsonInUtf8(header)).toBe(false);
  });
});
