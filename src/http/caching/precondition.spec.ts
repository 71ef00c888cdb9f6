import { describe, expect, it } from 'vitest';
import { JsonText } from '../../database/json-rows.js';
import { Int64, Text } from '../validation/fields.js';
import { entityTag } from './entity-tag.js';
import { Precondition, entityTagOf } from './precondition.js';

class Toy {
  @Int64()
  id!: bigint;

  @Text({ maxLength: 10 })
  name!: string;
}

const inside = { isInside: () => true };
const ball = { id: 2n ** 63n - 1n, name: 'Ball' };
const TEXT = '{"id":9223372036854775807,"name":"Ball"}';

describe('the entity tag of a resource', () => {
  it('is that of its JSON, whatever it was read as', () => {
    const secret = Object.assign(new Toy(), { secret: 5, name: 'Ball', id: ball.id });
    for (const toy of [ball, secret, new JsonText<Toy>(TEXT)])
      expect(entityTagOf(Toy, toy)).toBe(entityTag(TEXT));
    expect(entityTagOf(Toy, { ...ball, name: 'Rope' })).not.toBe(entityTag(TEXT));
  });
});

describe('a precondition', () => {
  it.each([
    [undefined, true],
    ['*', true],
    [entityTag(TEXT), true],
    [`"a", ${entityTag(TEXT)}`, true],
    [`W/${entityTag(TEXT)}`, false],
    [`W/"a", W/${entityTag(TEXT)}`, false],
    ['"a"', false],
    ['', false],
  ])('with If-Match %s holds: %s', (ifMatch, holds) => {
    const check = () => new Precondition(ifMatch, inside).check(Toy, ball);
    if (holds) expect(check).not.toThrow();
    else expect(check).toThrow('A precondition does not hold');
  });

  it.each([
    ['*', false],
    [`"a", W/${entityTag(TEXT)}`, false],
    ['"a"', true],
    ['', true],
  ])('with If-None-Match %s holds: %s', (ifNoneMatch, holds) => {
    const check = () => new Precondition(undefined, inside, ifNoneMatch).check(Toy, ball);
    if (holds) expect(check).not.toThrow();
    else expect(check).toThrow('A precondition does not hold');
  });

  it('may be of a tag of the feature’s own', () => {
    const precondition = new Precondition('"v7"', inside);
    expect(() => precondition.checkTag(() => '"v7"')).not.toThrow();
    expect(() => precondition.checkTag(() => '"v8"')).toThrow('A precondition does not hold');
  });

  it.each([undefined, '*'])('outside of a transaction is an error, also with If-Match %s', (ifMatch) => {
    const precondition = new Precondition(ifMatch, { isInside: () => false });
    expect(() => precondition.check(Toy, ball)).toThrow('must be checked in the transaction');
  });
});
