import type { Type } from '@nestjs/common';

/** Rows of an entity as tests need them: `defineFixture()` makes one, `service.add()` adds its rows. */
export interface Fixture<Entity extends object> {
  readonly entity: Type<Entity>;
  readonly valuesOf: (number: number) => Partial<Entity>;
}

/**
 * Default values of the rows of an entity; the function gets 1 for the first row of a service, 2 for the
 * second, so that rows can differ: `defineFixture(Pet, (number) => ({ name: `Pet ${number}`, … }))`.
 */
// The type parameter keeps a literal such as 'sold' from being taken for any string.
// eslint-disable-next-line typescript/no-unnecessary-type-parameters
export function defineFixture<Entity extends object, const Values extends Partial<Entity>>(
  entity: Type<Entity>,
  valuesOf: (number: number) => Values,
): Fixture<Entity> {
  return { entity, valuesOf };
}
