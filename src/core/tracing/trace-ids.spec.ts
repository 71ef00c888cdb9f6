import { describe, expect, it } from 'vitest';
import { parseTraceparent } from './trace-ids.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const PARENT = { traceId: TRACE, spanId: SPAN };

describe('traceparent', () => {
  it.each([
    ['the example of the specification', `00-${TRACE}-${SPAN}-01`, PARENT],
    ['one that is not sampled', `00-${TRACE}-${SPAN}-00`, PARENT],
    ['flags that are not known', `00-${TRACE}-${SPAN}-ff`, PARENT],
    ['a later version', `cc-${TRACE}-${SPAN}-01`, PARENT],
    ['a later version with more behind', `cc-${TRACE}-${SPAN}-01-what-the-future`, PARENT],
    ['a later version with an empty field behind', `cc-${TRACE}-${SPAN}-01-`, PARENT],
    ['nothing', '', undefined],
    ['version 00 with more behind', `00-${TRACE}-${SPAN}-01-more`, undefined],
    ['version 00 with an empty field behind', `00-${TRACE}-${SPAN}-01-`, undefined],
    ['a later version with more behind that is no field', `cc-${TRACE}-${SPAN}-01.more`, undefined],
    ['version ff', `ff-${TRACE}-${SPAN}-01`, undefined],
    ['a version of one digit', `0-${TRACE}-${SPAN}-01`, undefined],
    ['a version that is no number', `.0-${TRACE}-${SPAN}-01`, undefined],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
    ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
    ['a trace id that is too short', `00-${TRACE.slice(1)}-${SPAN}-01`, undefined],
    ['a trace id that is too long', `00-0${TRACE}-${SPAN}-01`, undefined],
    ['a span id that is too short', `00-${TRACE}-${SPAN.slice(1)}-01`, undefined],
    ['capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined],
    ['capital letters in the span id', `00-${TRACE}-${SPAN.toUpperCase()}-01`, undefined],
    ['no flags', `00-${TRACE}-${SPAN}`, undefined],
    ['flags of one digit', `00-${TRACE}-${SPAN}-1`, undefined],
    ['flags that are no number', `00-${TRACE}-${SPAN}-0x`, undefined],
    ['spaces', ` 00-${TRACE}-${SPAN}-01`, undefined],
    ['two headers', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`, undefined],
    [
      'two headers of a later version with more behind',
      `cc-${TRACE}-${SPAN}-01-a, cc-${TRACE}-${SPAN}-01-b`,
      undefined,
    ],
  ])('%s', (_, value, parent) => {
    expect(parseTraceparent(value)).toEqual(parent);
  });
});
