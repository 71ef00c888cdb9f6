import { describe, expect, it } from 'vitest';
import { exampleOf } from './example-of.js';

const ROW = {
  code: 'toy_not_found',
  status: 404,
  message: 'There is no toy {toyId} of {colour}; is it {colour}?',
  cause: '',
  remedy: '',
};

describe('the example of an error', () => {
  it('has the values of its row, and before them those that are known of the occurrence', () => {
    const row = { ...ROW, example: { toyId: 5, colour: 'red' } };
    expect(exampleOf(row)).toEqual({
      code: 'toy_not_found',
      message: 'There is no toy 5 of red; is it red?',
      status: 404,
    });
    expect(exampleOf(row, { params: { toyId: 7 } }).message).toBe('There is no toy 7 of red; is it red?');
  });

  it('shows the names of places that nothing gives a value for', () => {
    expect(exampleOf(ROW).message).toBe('There is no toy <toyId> of <colour>; is it <colour>?');
  });

  it('has the details of a fault', () => {
    const details = [{ field: 'name', code: 'required', message: 'This field is required.' }];
    expect(exampleOf(ROW, { details })).toMatchObject({ details });
  });
});
