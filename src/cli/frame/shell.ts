import type { INestApplication } from '@nestjs/common';
import type { Screen } from './list-table.js';
import type { AdminDocument } from '../operations/operations.js';
import type { Prompt } from './prompt.js';

/**
 * How a command uses the database of DATABASE_URL: `read` treats a missing file as an empty database and does not create it; `write`
 * creates it; `none` does not open it.
 */
export type DatabaseUse = 'read' | 'write' | 'none';

/** The environment of a command. */
export interface Shell {
  /** The OpenAPI document of the administration, whose operations are commands. */
  readonly operations: AdminDocument;
  /** Starts the application of the service, not listening. */
  readonly openApp: (use: DatabaseUse) => Promise<INestApplication>;
  /** Called when the command has ended; closes the application if it was started. */
  readonly closeApp?: () => Promise<void>;
  /**
   * Imports the modules of the application, which then have declared their settings and tables: for commands that do not start
   * it. Throws DeclarationError when one cannot be imported.
   */
  readonly loadModules: () => Promise<void>;
  /** Writes to standard output, and resolves when that is done; to the error if it failed. */
  readonly write: (text: string) => Promise<NodeJS.ErrnoException | undefined>;
  /** Writes to standard error, while the command runs. */
  readonly writeError: (text: string) => void;
  /** The terminal on standard output; absent if it is not a terminal. */
  readonly screen?: Screen;
  /** Asks the person at the terminal; absent without one. */
  readonly prompt?: Prompt;
  /** Reads one line from standard input that is not a terminal; `title` names it in errors. Throws InvalidArgumentError. */
  readonly readLine?: (title: string) => Promise<string>;
}
