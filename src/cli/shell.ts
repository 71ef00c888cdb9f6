import type { INestApplication } from '@nestjs/common';
import { stringify } from 'lossless-json';

/** Where a command runs: what it needs of the world around it. */
export interface Shell {
  /** Runs something in the service's own application. */
  readonly withApp: <T>(command: (app: INestApplication) => Promise<T>) => Promise<T>;
  /** Standard output. */
  readonly write: (text: string) => void;
  /** Standard error. */
  readonly complain: (text: string) => void;
}

/** Prints `document` as JSON when `json` is asked for, else `text` for people. */
export function print(shell: Shell, json: boolean, document: unknown, text: string): void {
  shell.write(json ? `${stringify(document, undefined, 2)}\n` : `${text}\n`);
}
