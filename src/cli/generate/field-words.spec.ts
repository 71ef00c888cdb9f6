import { describe, expect, it } from 'vitest';
import { descriptionOf, sampleTexts } from './field-words.js';

describe('what is said of a field by its name', () => {
  it.each([
    ['adopterName', 'Text', 'The name of the adopter'],
    ['firstName', 'Text', 'The first name of the pet toy'],
    ['otherName', 'Text', 'The other name of the pet toy'],
    ['shippingAddress', 'Text', 'The shipping address of the pet toy'],
    ['note', 'Text', 'The note of the pet toy'],
    ['priceCents', 'Int64', 'The price of the pet toy, in cents'],
    ['cents', 'Int64', 'The cents of the pet toy'],
    ['boughtAt', 'Instant', 'When it was bought'],
    ['startsAt', 'Instant', 'When it starts'],
    ['departureAt', 'Instant', 'When the departure is'],
    ['birthday', 'Instant', 'The birthday of the pet toy'],
  ])('%s: %s → %s', (property, decorator, description) => {
    expect(descriptionOf(property, 'pet toy', { decorator })).toBe(description);
  });

  it.each([
    ['petId', 'The id of the pet'],
    ['otherPetId', 'The id of the other pet'],
    ['owner', 'The id of the owner'],
    ['id', 'The id of the id'],
  ])('%s, which refers to something: %s', (property, description) => {
    expect(descriptionOf(property, 'toy', { decorator: 'Int64', references: 'pets' })).toBe(description);
  });
});

describe('examples of a text', () => {
  it.each([
    ['adopterName', 255, ['Ada Lovelace', 'Grace Hopper']],
    ['email', 255, ['ada@example.org', 'grace@example.org']],
    ['note', 255, ['A note', 'Another note']],
    ['inscription', 255, ['An inscription', 'Another inscription']],
    ['note', 8, ['a', 'b']],
    ['note', 1, ['a', 'b']],
  ])('%s of %d characters', (property, length, samples) => {
    expect(sampleTexts(property, length)).toEqual(samples);
  });
});
