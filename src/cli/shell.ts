import type { INestApplication } from '@nestjs/common';
import type { Screen } from './list-table.js';
import type { Prompt } from './prompt.js';

/**
 * What a command does with the database of DATABASE_URL: `read` finds it empty where no file is, and makes none; `write` makes it
 * there; `none` leaves it alone.
 */
export type DatabaseUse = 'read' | 'write' | 'none';

/** Where a command runs: what it needs of the world around it. */
export interface Shell {
  /** Runs something in the service's own application. */
  readonly withApp: <T>(command: (app: INestApplication) => Promise<T>, use: DatabaseUse) => Promise<T>;
  /**
   * Imports the modules of the application, which then have declared their settings and tables: for commands that do not start
   * it. Throws DeclarationError when one cannot be imported.
   */
  readonly loadModules: () => Promise<void>;
  /** Standard output. */
  readonly write: (text: string) => void;
  /** Waits until standard output has taken what was written; answers why it has not, or undefined. */
  readonly flushed?: () => Promise<NodeJS.ErrnoException | undefined>;
  /** Standard error. */
  readonly writeError: (text: string) => void;
  /** The terminal that standard output is; absent when it is none. */
  readonly screen?: Screen;
  /** Asks the person at the terminal; absent where none sits there. */
  readonly prompt?: Prompt;
  /** Reads the one line of standard input that is no terminal; `title` is what errors call it. Throws InvalidArgumentError. */
  readonly readLine?: (title: string) => Promise<string>;
}
