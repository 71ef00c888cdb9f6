import { ValidateBy } from 'class-validator';

/**
 * One rule of a property: its code and text stand in the `details` of a 400 when `holds` answers false.
 * Rules of one property each answer true for what another rule refuses, so that a fault is named once.
 */
export function Rule(code: string, message: string, holds: (value: unknown) => boolean): PropertyDecorator {
  return ValidateBy({ name: code, validator: { validate: holds, defaultMessage: () => message } });
}

/** The property must be there. */
export function Required(): PropertyDecorator {
  return Rule('required', 'This field is required.', (value) => value !== undefined);
}
