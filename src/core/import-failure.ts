import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { DeclarationError } from './declaration-faults.js';

/** A place in a stack: `file:///srv/dist/src/a.js:3:14`, or without the column above the message of a SyntaxError. */
const PLACE = /(?:file:\/\/)?(\/[^():\n]+):(\d+)(?::(\d+))?\)?$/gm;

/** The error of a circular import: a class is used before its file has run. */
const CIRCLE = /^ReferenceError: Cannot access '(\w+)' before initialization$/;

/** Imports modules; throws a DeclarationError that names the file, as it was written, and the line where one throws. */
export async function importing<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof DeclarationError) throw error;
    throw new DeclarationError(lineOf(error), { cause: error });
  }
}

function lineOf(error: unknown): string {
  const [message = ''] = String(error).split('\n', 1);
  const place = error instanceof Error ? placeOf(error.stack ?? '') : undefined;
  const [, early] = CIRCLE.exec(message) ?? [];
  if (early !== undefined)
    return (
      `${place ?? 'A file of the service'} uses ${early}, whose file imports this one in turn: ` +
      `write forwardRef(() => ${early}), or move what both use to a third file`
    );
  return `${place ?? 'A file of the service'}: ${message} (thrown while it was imported; LOG_LEVEL=debug shows the stack)`;
}

/** The first place of a stack that is in no package. */
function placeOf(stack: string): string | undefined {
  for (const [, file = '', line, column = '1'] of stack.matchAll(PLACE)) {
    const written = writtenAt({ file, line: Number(line), column: Number(column) });
    if (!written.file.includes('/node_modules/'))
      return `${relative(process.cwd(), written.file)}:${written.line}`;
  }
  return undefined;
}

interface Place {
  readonly file: string;
  /** From 1, as is the column. */
  readonly line: number;
  readonly column: number;
}

/** Where the code of a place was written, by the source maps beside built files: the bundle is built of what was built. */
function writtenAt(place: Place): Place {
  const map = `${place.file}.map`;
  if (!existsSync(map)) return place;
  const payload = JSON.parse(readFileSync(map, 'utf8')) as ConstructorParameters<typeof SourceMap>[0];
  const entry = new SourceMap(payload).findEntry(place.line - 1, place.column - 1);
  if (!('originalSource' in entry)) return place;
  const { originalSource, originalLine, originalColumn } = entry;
  const file = resolve(dirname(map), originalSource);
  return writtenAt({ file, line: originalLine + 1, column: originalColumn + 1 });
}
