import { Operation, type SuccessResponse } from '../../src/http/declarations/operation.decorator.js';

/** Declares no member. */
export class Anything {}

/** Describes an operation of a test, whose texts do not matter: by default it answers 200 with anything. */
export function described(id: string, response: object = { type: Anything }): MethodDecorator {
  return Operation({
    id,
    summary: id,
    description: 'For a test.',
    responses: { status: 200, description: 'What it answers', ...response } as SuccessResponse,
  });
}
