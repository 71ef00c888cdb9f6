import type { INestApplication } from '@nestjs/common';
import type { Screen } from './list-table.js';
import type { Prompt } from './prompt.js';

/**
 * How a command uses the database of DATABASE_URL: `read` treats a missing file as an empty database and does not create it; `write`
 * creates it; `none` does not open it.
 */
export type DatabaseUse = 'read' | 'write' | 'none';

/** The environment of a command. */
export interface Shell {
  /** Runs a command in the application of the service. */
  readonly withApp: <T>(command: (app: INestApplication) => Promise<T>, use: DatabaseUse) => Promise<T>;
  /**
   * Imports the modules of the application, which then have declared their settings and tables: for commands that do not start
   * it. Throws DeclarationError when one cannot be imported.
   */
  readonly loadModules: () => Promise<void>;
  /** Standard output. */
  readonly write: (text: string) => void;
  /** Waits until standard output has been written; resolves to the error if that failed. */
  readonly flushed?: () => Promise<NodeJS.ErrnoException | undefined>;
  /** Standard error. */
  readonly writeError: (text: string) => void;
  /** The terminal on standard output; absent if it is not a terminal. */
  readonly screen?: Screen;
  /** Asks the person at the terminal; absent without one. */
  readonly prompt?: Prompt;
  /** Reads one line from standard input that is not a terminal; `title` names it in errors. Throws InvalidArgumentError. */
  readonly readLine?: (title: string) => Promise<string>;
}
