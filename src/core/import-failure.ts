import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { DeclarationError } from './declaration-errors.js';

/** A location in a stack: `file:///srv/dist/src/a.js:3:14`, or without a column above the message of a SyntaxError. */
const LOCATION = /(?:file:\/\/)?(\/[^():\n]+):(\d+)(?::(\d+))?\)?$/gm;

/** The error of a circular import, in which a class is used before its file has run. */
const CIRCLE = /^ReferenceError: Cannot access '(\w+)' before initialization$/;

/** Imports modules. If one throws, throws a DeclarationError that names the source file and line. */
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
  const location = error instanceof Error ? locationOf(error.stack ?? '') : undefined;
  const [, early] = CIRCLE.exec(message) ?? [];
  if (early !== undefined)
    return (
      `${location ?? 'A file of the service'} uses ${early}, whose file imports this one. ` +
      `Write forwardRef(() => ${early}), or move the shared code to a third file`
    );
  return `${location ?? 'A file of the service'}: ${message} (thrown while it was imported; LOG_LEVEL=debug shows the stack)`;
}

/** The first location in a stack that is not in a package. */
function locationOf(stack: string): string | undefined {
  for (const [, file = '', line, column = '1'] of stack.matchAll(LOCATION)) {
    const written = writtenAt({ file, line: Number(line), column: Number(column) });
    if (!written.file.includes('/node_modules/'))
      return `${relative(process.cwd(), written.file)}:${written.line}`;
  }
  return undefined;
}

interface Location {
  readonly file: string;
  /** 1-based, like the column. */
  readonly line: number;
  readonly column: number;
}

/** The original location, according to the source maps of built files, because the bundle is made from built files. */
function writtenAt(location: Location): Location {
  const map = `${location.file}.map`;
  if (!existsSync(map)) return location;
  const payload = JSON.parse(readFileSync(map, 'utf8')) as ConstructorParameters<typeof SourceMap>[0];
  const entry = new SourceMap(payload).findEntry(location.line - 1, location.column - 1);
  if (!('originalSource' in entry)) return location;
  const { originalSource, originalLine, originalColumn } = entry;
  const file = resolve(dirname(map), originalSource);
  return writtenAt({ file, line: originalLine + 1, column: originalColumn + 1 });
}
