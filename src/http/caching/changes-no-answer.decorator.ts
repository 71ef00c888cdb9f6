import { SetMetadata } from '@nestjs/common';

const CHANGES_NO_ANSWER = 'petstore:changes-no-answer';

/**
 * Declares that an interceptor, such as one that logs, traces or measures, leaves body, status and headers of every answer as
 * they are, so that `@Cached()` operations are answered from the cache although it is global. It still runs for every request:
 * for an answer from the cache, `next.handle()` emits the JSON text. For a class of another package, call it:
 * `ChangesNoAnswer()(TheirInterceptor)`. A subclass has to declare it for itself.
 */
export function ChangesNoAnswer(): ClassDecorator {
  return SetMetadata(CHANGES_NO_ANSWER, true);
}

/** Whether the class of an interceptor declares that it changes no answer. */
export function changesNoAnswer(interceptor: object): boolean {
  return Reflect.getOwnMetadata(CHANGES_NO_ANSWER, interceptor.constructor) === true;
}
