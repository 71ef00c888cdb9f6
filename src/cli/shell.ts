import type { INestApplication } from '@nestjs/common';
import type { Screen } from './list-table.js';
import type { Prompt } from './prompt.js';

/** Where a command runs: what it needs of the world around it. */
export interface Shell {
  /** Runs something in the service's own application. */
  readonly withApp: <T>(command: (app: INestApplication) => Promise<T>) => Promise<T>;
  /** As `loadModules` of Call. */
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
