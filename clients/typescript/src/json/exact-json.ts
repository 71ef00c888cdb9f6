import { type Int64Form, inForm, isWithinInt64 } from '../int64.js';
import { type Shape, type Shapes, isInt64, kindOf, shapeOfField, shapeOfItems } from './shape.js';

/** How an answer is read. */
export interface ReadingOptions {
  /** Where it holds integers of 64 bits. */
  readonly shape: Shape | undefined;
  /** The shapes that it names. */
  readonly shapes: Shapes;
  /** What those integers become. */
  readonly form: Int64Form;
}

/** What `JSON.parse` may round, or what looks like it: 16 digits in a row, a fraction or an exponent. It may stand in a text. */
const MAY_BE_ROUNDED = /\d(?:\d{15}|[.eE])/;

/**
 * Reads JSON without rounding an integer: those that the shape declares become Int64, and so do others beyond 2⁵³. Numbers with a
 * fraction or an exponent are doubles where no integer is declared. Throws a SyntaxError for what is no JSON, for a declared
 * integer that is none of 64 bits, and for what is no object, or no array, where one is declared; null may stand in each place.
 */
export function readJson(text: string, options: ReadingOptions): unknown {
  return MAY_BE_ROUNDED.test(text)
    ? new ExactReader(text, options).read()
    : declared(JSON.parse(text), options);
}

/** A parsed value in which nothing was rounded, with its declared integers as Int64. */
function declared(value: unknown, options: ReadingOptions): unknown {
  const { shape, shapes, form } = options;
  if (shape === undefined) return value;
  requireKind(value, shape, shapes);
  if (typeof value === 'number') return isInt64(shape, shapes) ? inForm(BigInt(value), form) : value;
  if (Array.isArray(value)) {
    const inside = { ...options, shape: shapeOfItems(shape, shapes) };
    return value.map((one: unknown) => declared(one, inside));
  }
  if (typeof value !== 'object' || value === null) return value;
  for (const [name, member] of Object.entries(value))
    define(value, name, declared(member, { ...options, shape: shapeOfField(shape, name, shapes) }));
  return value;
}

const KINDS = {
  int64: ['an integer of 64 bits', (value: unknown) => typeof value === 'number'],
  array: ['an array', Array.isArray],
  object: [
    'an object',
    (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ],
} as const;

/** Throws a SyntaxError for a value, as it was sent, of another kind than its shape has. */
function requireKind(value: unknown, shape: Shape | undefined, shapes: Shapes): void {
  const kind = value === null ? undefined : kindOf(shape, shapes);
  if (kind === undefined) return;
  const [name, isOfIt] = KINDS[kind];
  if (!isOfIt(value)) throw new SyntaxError(`something else where ${name} belongs`);
}

/** A member named `__proto__` is a member, as JSON.parse has it. */
function define(object: object, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else (object as Record<string, unknown>)[name] = value;
}

const SPACE = /[\t\n\r ]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/y;
const WORDS: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

/** Reads JSON (RFC 8259) with the digits of each number before it. */
class ExactReader {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly options: ReadingOptions,
  ) {}

  read(): unknown {
    const value = this.value(this.options.shape);
    if (this.next() !== '') this.fail();
    return value;
  }

  private value(shape: Shape | undefined): unknown {
    const next = this.next();
    // A number is looked at with its digits.
    if (next === '"' || next === '{' || next === '[' || /[tf]/.test(next))
      requireKind({ '"': '', '{': {}, '[': [] }[next] ?? false, shape, this.options.shapes);
    if (next === '{') return this.object(shape);
    if (next === '[') return this.array(shape);
    if (next === '"') return this.string();
    for (const [word, value] of WORDS)
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    return this.number(shape);
  }

  private object(shape: Shape | undefined): object {
    const object = {};
    this.at += 1;
    if (this.next() === '}') return this.end(object);
    for (;;) {
      if (this.next() !== '"') this.fail();
      const name = this.string();
      if (this.next() !== ':') this.fail();
      this.at += 1;
      define(object, name, this.value(shapeOfField(shape, name, this.options.shapes)));
      if (this.next() === '}') return this.end(object);
      this.comma();
    }
  }

  private array(shape: Shape | undefined): unknown[] {
    const array: unknown[] = [];
    const inside = shapeOfItems(shape, this.options.shapes);
    this.at += 1;
    if (this.next() === ']') return this.end(array);
    for (;;) {
      array.push(this.value(inside));
      if (this.next() === ']') return this.end(array);
      this.comma();
    }
  }

  private end<Value>(value: Value): Value {
    this.at += 1;
    return value;
  }

  private comma(): void {
    if (this.next() !== ',') this.fail();
    this.at += 1;
  }

  private string(): string {
    let end = this.at + 1;
    for (;;) {
      end = this.text.indexOf('"', end);
      if (end < 0) this.fail();
      let slashes = 0;
      while (this.text[end - 1 - slashes] === '\\') slashes += 1;
      end += 1;
      if (slashes % 2 === 0) break;
    }
    const value = JSON.parse(this.text.slice(this.at, end)) as string;
    this.at = end;
    return value;
  }

  private number(shape: Shape | undefined): unknown {
    NUMBER.lastIndex = this.at;
    const [token, fraction, exponent] = NUMBER.exec(this.text) ?? this.fail();
    this.at = NUMBER.lastIndex;
    const { shapes, form } = this.options;
    requireKind(0, shape, shapes);
    const isInteger = fraction === undefined && exponent === undefined;
    if (isInt64(shape, shapes)) {
      const exact = integerIn(token);
      if (exact === undefined || !isWithinInt64(exact))
        throw new SyntaxError(`${token.slice(0, 40)} is no integer of 64 bits`);
      return inForm(exact, form);
    }
    const rounded = Number(token);
    return isInteger && !Number.isSafeInteger(rounded) ? inForm(BigInt(token), form) : rounded;
  }

  /** The next character that is no space; the empty text at the end. */
  private next(): string {
    SPACE.lastIndex = this.at;
    SPACE.exec(this.text);
    this.at = SPACE.lastIndex;
    return this.text[this.at] ?? '';
  }

  private fail(): never {
    throw new SyntaxError(`no JSON from character ${this.at} on`);
  }
}

/** The integer that a number such as `1.50e1` is; undefined for what is none, or has too many digits for 64 bits. */
function integerIn(token: string): bigint | undefined {
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const shift = Number(exponent) - fraction.length;
  const digits = whole + fraction;
  const significant = digits.replace(/^(-?)0+(?=\d)/, '$1');
  if (/^-?0$/.test(significant)) return 0n;
  if (shift >= 0)
    return shift + significant.length > 20 ? undefined : BigInt(significant + '0'.repeat(shift));
  const cut = significant.slice(0, shift);
  if (-shift >= significant.length || !/^0*$/.test(significant.slice(shift))) return undefined;
  return cut === '-' || cut === '' || cut.length > 20 ? undefined : BigInt(cut);
}
