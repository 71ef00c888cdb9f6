import type { INestApplication } from '@nestjs/common';
import type { Screen } from './list-table.js';
import type { AdminDocument } from '../operations/operations.js';
import type { Prompt } from './prompt.js';

/**
 * How a command uses the database of DATABASE_URL: `read` treats a missing file as an empty database without creating it, `write` creates
 * it, and `none` does not open it.
 */
export type DatabaseUse = 'read' | 'write' | 'none';

/** The environment of a command. */
export interface Shell {
  /** The OpenAPI document of the administration. Its operations are commands. */
  readonly operations: AdminDocument;
  /** Starts the service's application without listening. */
  readonly openApp: (use: DatabaseUse) => Promise<INestApplication>;
  /** Called when the command has ended; closes the application if it was started. */
  readonly closeApp?: () => Promise<void>;
  /**
   * Imports the application's modules, which then have declared their settings and tables, for commands that do not start the application.
   * Throws DeclarationError if one cannot be imported.
   */
  readonly loadModules: () => Promise<void>;
  /** Writes to standard output; resolves when finished, to the error if it failed. */
  readonly write: (text: string) => Promise<NodeJS.ErrnoException | undefined>;
  /** Writes to standard error while the command runs. */
  readonly writeError: (text: string) => void;
  /** The terminal on standard output; absent if it is not a terminal. */
  readonly screen?: Screen;
  /** Asks the person at the terminal; absent without one. */
  readonly prompt?: Prompt;
  /** Reads one line from a standard input that is not a terminal. `title` names the value in errors. Throws InvalidArgumentError. */
  readonly readLine?: (title: string) => Promise<string>;
}
