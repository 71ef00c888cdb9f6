// How the files of the bundle are written, so that Node.js runs them as ES modules, and V8 reads them once and keeps them small.

/** What CommonJS packages expect to be there, once for each file. */
export const COMMONJS = `
import { createRequire as petstoreCreateRequire } from 'node:module';
import { fileURLToPath as petstoreFileURLToPath } from 'node:url';
const require = petstoreCreateRequire(import.meta.url);
const __filename = petstoreFileURLToPath(import.meta.url);
const __dirname = petstoreFileURLToPath(new URL('.', import.meta.url));
`;

/**
 * Packages of ES modules make a `require` of their own, the same as that of the banner. The bundler keeps the first one's name
 * where no CommonJS package lies in the same file; the second declaration would be a syntax error.
 */
const OWN_REQUIRE = {
  name: 'petstore:own-require',
  renderChunk: (code) => code.replace(/^const require = createRequire\(import\.meta\.url\);$/m, ''),
};

/**
 * The bundler wraps each module in an arrow function in parentheses, so that it is compiled where it is read. V8 does so only to a
 * `function`: it would read an arrow function twice, and all functions in it.
 */
const COMPILED_AT_ONCE = {
  name: 'petstore:compiled-at-once',
  renderChunk: (code) =>
    code.replace(/\b(__(?:commonJS|esm)Min\(\()(\([\w$, ]*\)) => \{$/gm, '$1function$2 {'),
};

/**
 * One character beyond Latin-1 makes V8 hold a whole file with two bytes a character, and read it more slowly. Escaped it is the same
 * in strings, patterns and names; not in String.raw, where it must not stand. A backslash that is there already is one of an escape.
 */
const ASCII = {
  name: 'petstore:ascii',
  renderChunk(code) {
    if (/\bString\.raw`[^`]*[^`\0-\x7f]/.test(code)) throw new Error('String.raw has more than ASCII.');
    return code.replace(/(\\*)([^\0-\x7f])/g, (_, before, character) => {
      const escape = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
      return before.slice(before.length % 2) + escape;
    });
  },
};

/** What every file of a bundle needs, as plugins of the bundler. */
export const WRITTEN_CODE = [OWN_REQUIRE, COMPILED_AT_ONCE, ASCII];
