import { type JobSchedule, checkSchedule } from './job-schedule.js';

/** How a job is called, and when it is run. */
export type JobOptions = JobSchedule & {
  /** Of the form `subject.verb`, such as `adoptions.expire`; unique in the service, at most 100 characters. */
  readonly name: string;
};

const NAME = /^(?=.{1,100}$)[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/;

/** Where a method keeps what its `@Job()` declares. */
export const JOB = Symbol('job');

/**
 * Makes a provider's method a background job: one process among all that serve the database runs it, one run at a time. It runs
 * in no transaction. Its signal aborts when the service stops and the job has had its time, or when another process may run it.
 * Throws when the name or the schedule is malformed.
 */
export function Job(options: JobOptions) {
  if (!NAME.test(options.name)) throw new Error(`Job "${options.name}" is not of the form subject.verb.`);
  try {
    checkSchedule(options);
  } catch (error) {
    throw new Error(`Job "${options.name}": ${(error as Error).message}.`, { cause: error });
  }
  return <Method extends (signal: AbortSignal) => Promise<void>>(
    _target: object,
    _key: string,
    { value }: TypedPropertyDescriptor<Method>,
  ): void => {
    if (value) Reflect.defineMetadata(JOB, options, value);
  };
}
