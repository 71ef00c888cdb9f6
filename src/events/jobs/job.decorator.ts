import { checkDeclaredName, declarationFault, decorated } from '../../core/declaration-faults.js';
import { type JobSchedule, scheduleFault } from './job-schedule.js';

/** Name and schedule of a job. */
export type JobOptions = JobSchedule & {
  /** Of the form `subject.verb`, such as `adoptions.expire`; unique in the service, at most 100 characters. */
  readonly name: string;
};

/** Where a method keeps what its `@Job()` declares. */
export const JOB = Symbol('job');

/**
 * Makes a provider's method a background job: one process among all that serve the database runs it, one run at a time. It runs
 * in no transaction. Its signal aborts when the service stops and the job has had its time, or when another process may run it.
 * A malformed name or schedule stops the start.
 */
export function Job(options: JobOptions) {
  return <Method extends (signal: AbortSignal) => Promise<void>>(
    target: object,
    key: string,
    { value }: TypedPropertyDescriptor<Method>,
  ): void => {
    const fault = (text: string) => declarationFault(`${decorated(target, key)}: ${text}`);
    checkDeclaredName(`${decorated(target, key)}: the job`, options.name, 'subject.verb', 'adoptions.expire');
    const ofSchedule = scheduleFault(options);
    if (ofSchedule !== undefined) fault(`the job "${options.name}" has ${ofSchedule}.`);
    if (value) Reflect.defineMetadata(JOB, options, value);
  };
}
