import { SetMetadata } from '@nestjs/common';

const ANSWERED_UNDER_OVERLOAD = 'petstore:answered-under-overload';

/** Lets a handler respond even under overload: for cheap probes, whose path has no parameters. */
export const AnsweredUnderOverload = (): MethodDecorator => SetMetadata(ANSWERED_UNDER_OVERLOAD, true);

/** Whether a handler, or the function that Nest registers for it, responds even under overload. */
export function isAnsweredUnderOverload(handler: object): boolean {
  return Reflect.getMetadata(ANSWERED_UNDER_OVERLOAD, handler) === true;
}
