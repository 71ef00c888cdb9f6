import type { Type } from '@nestjs/common';

/** Default values for rows of an entity in tests. `defineFixture()` creates a fixture, and `service.add()` inserts rows. */
export interface Fixture<Entity extends object> {
  readonly entity: Type<Entity>;
  readonly valuesOf: (number: number) => Partial<Entity>;
}

/**
 * Defines default values for rows of an entity. So that rows can differ, the function receives 1 for the first row of a service, 2 for the
 * second, and so on: `defineFixture(Pet, (number) => ({ name: `Pet ${number}`, … }))`.
 */
// The `const` type parameter prevents a literal such as 'sold' from being widened to string.
// eslint-disable-next-line typescript/no-unnecessary-type-parameters
export function defineFixture<Entity extends object, const Values extends Partial<Entity>>(
  entity: Type<Entity>,
  valuesOf: (number: number) => Values,
): Fixture<Entity> {
  return { entity, valuesOf };
}
