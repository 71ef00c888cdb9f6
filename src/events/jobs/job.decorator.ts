import { checkDeclaredName, invalidDeclaration, decorated } from '../../core/declaration-errors.js';
import { type JobSchedule, scheduleError } from './job-schedule.js';

/** Name and schedule of a job. */
export type JobOptions = JobSchedule & {
  /** Of the form `subject.verb`, such as `adoptions.expire`; unique in the service, at most 100 characters. */
  readonly name: string;
};

/** Metadata key of `@Job()`. */
export const JOB = Symbol('job');

/**
 * Makes a provider's method a background job: one process at a time runs it, among all that use the database. It does not run in a
 * transaction. Its signal aborts if the service stops and the grace period is over, or if another process may take over. The service does
 * not start if the name or schedule is malformed.
 */
export function Job(options: JobOptions) {
  return <Method extends (signal: AbortSignal) => Promise<void>>(
    target: object,
    key: string,
    { value }: TypedPropertyDescriptor<Method>,
  ): void => {
    const error = (text: string) => invalidDeclaration(`${decorated(target, key)}: ${text}`);
    checkDeclaredName(`${decorated(target, key)}: the job`, options.name, 'subject.verb', 'adoptions.expire');
    const ofSchedule = scheduleError(options);
    if (ofSchedule !== undefined) error(`the job "${options.name}" has ${ofSchedule}.`);
    if (value) Reflect.defineMetadata(JOB, options, value);
  };
}
