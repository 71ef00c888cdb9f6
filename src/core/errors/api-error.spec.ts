import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MOST_DETAILS, shortened, shownFaults } from './api-error.js';

const fault = fc.record({ field: fc.string(), code: fc.constant('required'), message: fc.string() });

describe('the details of a refusal', () => {
  it('are all faults up to 20, and tell how many there are beyond', () => {
    fc.assert(
      fc.property(fc.array(fault, { maxLength: 60 }), (faults) => {
        const shown = shownFaults(faults);
        expect(shown.length).toBeLessThanOrEqual(MOST_DETAILS);
        if (faults.length <= MOST_DETAILS) {
          expect(shown).toEqual(faults);
          return;
        }
        expect(shown.slice(0, -1)).toEqual(faults.slice(0, MOST_DETAILS - 1));
        expect(shown.at(-1)).toEqual({
          field: '',
          code: 'more_faults',
          message: `There are ${faults.length - (MOST_DETAILS - 1)} more faults.`,
        });
      }),
    );
  });

  it('are short, however long what was sent is', () => {
    const faults = Array.from({ length: 1_000 }, () => ({
      field: '🐕'.repeat(25_000),
      code: 'unknown_field',
      message: `${'é'.repeat(50_000)} is not known`,
    }));
    expect(JSON.stringify(shownFaults(faults)).length).toBeLessThan(13_000);
  });

  it('repeat a text as it is, or its beginning', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.integer({ min: 2, max: 20 }),
        (text, most) => {
          const short = shortened(text, most);
          expect(short.length).toBeLessThanOrEqual(most);
          if (text.length <= most) expect(short).toBe(text);
          else expect(text.startsWith(short.slice(0, -1)) && short.endsWith('…')).toBe(true);
          expect(short.isWellFormed()).toBe(text.isWellFormed() || short.isWellFormed());
        },
      ),
    );
  });
});
