import { stringify } from 'lossless-json';

/** Most levels of nested arrays and objects; the stack has room for many times as many. */
export const MOST_LEVELS = 64;
/** Most characters of a number: making a `bigint` of 100,000 digits takes 8 ms. RFC 8259 section 9 allows a limit. */
export const LONGEST_NUMBER = 1_000;

/**
 * A number that was written with a fraction or an exponent, as text: `1.0` is not an integer, although the double 1 is.
 * Arithmetic takes it for its value. ValidationPipe hands handlers plain numbers.
 */
export class JsonDecimal {
  constructor(readonly text: string) {}

  valueOf(): number {
    return Number(this.text);
  }

  toString(): string {
    return this.text;
  }

  toJSON(): number {
    return Number(this.text);
  }
}

/**
 * Parses JSON (RFC 8259) without changing a number: integers that a double cannot hold become `bigint`, numbers with a
 * fraction or an exponent `JsonDecimal`, everything else is as JSON.parse has it. Throws SyntaxError for anything but one
 * JSON document, for a member named twice, and beyond MOST_LEVELS and LONGEST_NUMBER.
 */
export function parseExactJson(text: string): unknown {
  return new Reader(text).document();
}

/** As parseExactJson; undefined for a text without anything but white space, which is how a client sends no body. */
export function parseExactJsonIfAny(text: string): unknown {
  return BLANK.test(text) ? undefined : parseExactJson(text);
}

/** Writes JSON with `bigint` as a JSON integer. */
export function writeExactJson(value: unknown): string {
  return stringify(value) ?? 'null';
}

const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
const BLANK = /^[ \t\n\r]*$/;
const NUMBER = /-?(?:0|[1-9]\d*)((?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
const LITERALS: readonly (readonly [text: string, value: boolean | null])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

/** Reads a text from its beginning to its end, one value after the other. */
class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  document(): unknown {
    const value = this.value(0);
    if (!Number.isNaN(this.next())) throw this.unexpected();
    return value;
  }

  /** Passes over white space; answers the code of the character behind it, NaN at the end. */
  private next(): number {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== SPACE && code !== LINE_FEED && code !== CARRIAGE_RETURN && code !== TAB) return code;
      this.at += 1;
    }
  }

  private value(level: number): unknown {
    const code = this.next();
    if (code === QUOTE) return this.string();
    if (code === OPEN_BRACE) return this.object(level + 1);
    if (code === OPEN_BRACKET) return this.array(level + 1);
    return this.number() ?? this.literal();
  }

  private object(level: number): object {
    this.enter(level);
    const object: Record<string, unknown> = {};
    if (this.endsWith(CLOSE_BRACE)) return object;
    do {
      if (this.next() !== QUOTE) throw this.unexpected();
      const name = this.string();
      if (Object.hasOwn(object, name))
        throw new SyntaxError(`the member ${JSON.stringify(name)} stands in it twice`);
      if (this.next() !== COLON) throw this.unexpected();
      this.at += 1;
      const value = this.value(level);
      // An assignment would change the prototype of the object.
      if (name === '__proto__')
        Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
      else object[name] = value;
    } while (this.goesOn(CLOSE_BRACE));
    return object;
  }

  private array(level: number): unknown[] {
    this.enter(level);
    const array: unknown[] = [];
    if (this.endsWith(CLOSE_BRACKET)) return array;
    do array.push(this.value(level));
    while (this.goesOn(CLOSE_BRACKET));
    return array;
  }

  private enter(level: number): void {
    if (level > MOST_LEVELS) throw new SyntaxError(`it is nested deeper than ${MOST_LEVELS} levels`);
    this.at += 1;
  }

  private endsWith(close: number): boolean {
    if (this.next() !== close) return false;
    this.at += 1;
    return true;
  }

  /** Whether a comma announces another element; throws when neither it nor the end comes. */
  private goesOn(close: number): boolean {
    const code = this.next();
    if (code !== COMMA && code !== close) throw this.unexpected();
    this.at += 1;
    return code === COMMA;
  }

  private string(): string {
    const { text, at: start } = this;
    let end = start + 1;
    let hasEscapes = false;
    for (let code = text.charCodeAt(end); code !== QUOTE; code = text.charCodeAt(end)) {
      // Also at the end of the text, where the code is NaN.
      if (!(code >= SPACE)) {
        this.at = end;
        throw this.unexpected();
      }
      if (code === BACKSLASH) hasEscapes = true;
      end += code === BACKSLASH ? 2 : 1;
    }
    this.at = end + 1;
    return hasEscapes ? this.unescaped(text.slice(start, end + 1), start) : text.slice(start + 1, end);
  }

  private unescaped(literal: string, start: number): string {
    try {
      return JSON.parse(literal) as string;
    } catch {
      throw new SyntaxError(`the string at position ${start} holds a broken escape`);
    }
  }

  private number(): number | bigint | JsonDecimal | undefined {
    NUMBER.lastIndex = this.at;
    const match = NUMBER.exec(this.text);
    if (!match) return undefined;
    const [text, decimals] = match;
    if (text.length > LONGEST_NUMBER)
      throw new SyntaxError(`a number in it has more than ${LONGEST_NUMBER} characters`);
    this.at += text.length;
    if (decimals !== '') return new JsonDecimal(text);
    const value = Number(text);
    return Number.isSafeInteger(value) ? value : BigInt(text);
  }

  private literal(): boolean | null {
    for (const [text, value] of LITERALS) {
      if (!this.text.startsWith(text, this.at)) continue;
      this.at += text.length;
      return value;
    }
    throw this.unexpected();
  }

  private unexpected(): SyntaxError {
    const character = this.text.codePointAt(this.at);
    if (character === undefined) return new SyntaxError('it ends too early');
    return new SyntaxError(
      `${JSON.stringify(String.fromCodePoint(character))} is not expected at position ${this.at}`,
    );
  }
}
