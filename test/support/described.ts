import { Operation, type SuccessResponse } from '../../src/http/declarations/operation.decorator.js';

/** A schema without members. */
export class Anything {}

/** Documents an operation in a test where the text does not matter. By default, it returns 200 with any body. */
export function described(id: string, response: object = { type: Anything }): MethodDecorator {
  return Operation({
    id,
    summary: id,
    description: 'For a test.',
    responses: { status: 200, description: 'What it answers', ...response } as SuccessResponse,
  });
}
