import type { INestApplication } from '@nestjs/common';
import type { Operator } from '../auth/clients/audited-changes.js';
import type { Confirmation } from './confirmation.js';
import type { View } from './list-table.js';

/** What a command was called with. */
export interface Call<Input> {
  /** Its argument; empty for a command without one. */
  readonly argument: string;
  readonly input: Input;
  /** Whether `--force` was given. */
  readonly force: boolean;
  /** Who orders what it changes. */
  readonly by: Operator;
  /**
   * Imports the modules of the application, which then have declared their settings and brought their tables. A command without
   * the application that needs these calls it. Throws DeclarationError when one cannot be imported.
   */
  readonly loadModules: () => Promise<void>;
  /** Standard error, for what a command tells while it runs. */
  readonly tell: (text: string) => void;
}

/** Carries a command out. Whatever it throws ends the command with exit code 1, or 2 for a value that it does not take. */
type Run<Input, Result> =
  | { readonly run: (app: INestApplication, call: Call<Input>) => Promise<Result> }
  /** Without the service's application, which is not started. */
  | { readonly runAlone: (call: Call<Input>) => Promise<Result> };

/** As Run, with the question before it. */
type AskedRun<Input, Result> =
  | {
      readonly run: (app: INestApplication, call: Call<Input>) => Promise<Result>;
      readonly confirm: Confirmation<Input, [app: INestApplication, call: Call<Input>]>;
    }
  | {
      readonly runAlone: (call: Call<Input>) => Promise<Result>;
      readonly confirm: Confirmation<Input, [call: Call<Input>]>;
    };

/** How the options become its input, and its result what is shown. */
interface Shown<Input, Result> {
  /** Makes its input of the options, before the application is started; without it they are the input as they are. */
  readonly input?: (options: Readonly<Record<string, unknown>>) => Input | Promise<Input>;
  /** The result for people; undefined prints nothing. */
  readonly text: (result: Result, input: Input, view: View) => string | undefined;
  /** What `--json` prints of the result, if that is not the result as it is. */
  readonly json?: (result: Result) => unknown;
  /** Why the command ends with exit code 1 although its result is printed; undefined when it succeeded. */
  readonly refusal?: (result: Result) => string | undefined;
}

/** What a command does that never asks. */
export type PlainAction<Input, Result> = Shown<Input, Result> &
  Run<Input, Result> & { readonly confirm?: undefined };

/** What a command does that asks before it cannot be undone. */
export type AskingAction<Input, Result> = Shown<Input, Result> & AskedRun<Input, Result>;

/** What a command does, and how its result is shown. */
export type Action<Input, Result> = PlainAction<Input, Result> | AskingAction<Input, Result>;

/**
 * Writes down what a command does. It stands in a file `*.actions.ts` or `*.action.ts`, which may import whatever it needs of the
 * service: it is imported when the command is carried out, and only then.
 */
export function action<Input, Result>(made: AskingAction<Input, Result>): AskingAction<Input, Result>;
export function action<Input, Result>(made: PlainAction<Input, Result>): PlainAction<Input, Result>;
export function action<Input, Result>(made: Action<Input, Result>): Action<Input, Result> {
  return made;
}
