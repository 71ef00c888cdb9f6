import { isUtf8 } from 'node:buffer';
import { type RawValue, shownRaw, storageClassOf } from './raw-value.js';
import type { TargetColumn } from './target-schema.js';
import { isDay, isJson, isTime, isUuid, toMicroseconds } from './text-forms.js';

/** Why PostgreSQL would refuse a value, or not store it as it is. */
export class ValueFault {
  /** Completes "<column> …", and says what to do. */
  constructor(readonly problem: string) {}
}

/** How values of one type of PostgreSQL are carried there, and compared afterwards. */
export interface ColumnKind {
  /** The text by which PostgreSQL reads a value that is not NULL. */
  readonly carry: (raw: Exclude<RawValue, null>, column: TargetColumn) => string | ValueFault;
  /** Of the text that is carried, the one text for each value that both sides are compared by; without it the same. */
  readonly compared?: (carried: string) => string;
  /** The same of a column, as an expression of PostgreSQL. */
  readonly comparedSql: (column: string, declared: TargetColumn) => string;
}

/** How a column is carried; undefined for a type of which it is not certain that both databases store the same. */
export function kindOf({ type }: TargetColumn): ColumnKind | undefined {
  return KINDS[type];
}

const asText = (column: string): string => `${column}::text`;

/** Text of a limited number of characters. PostgreSQL fills up char(n) with blanks, so only text of its full length stays the same. */
function textKind(isPadded: boolean): ColumnKind {
  return {
    carry(raw, { modifier }) {
      if (!Buffer.isBuffer(raw)) return wrongClass(raw, 'text');
      if (!isUtf8(raw)) return new ValueFault('is not valid UTF-8; write the text anew');
      if (raw.includes(0)) return new ValueFault('has the character NUL (U+0000) in it; remove it');
      const text = raw.toString('utf8');
      const most = modifier < 0 ? Infinity : modifier - 4;
      const length = raw.length > most || isPadded ? Array.from(text).length : 0;
      if (length > most)
        return new ValueFault(`has ${length} characters, and at most ${most} are stored; shorten it`);
      if (isPadded && length < most)
        return new ValueFault(
          `has ${length} characters, and char(${most}) is filled up to ${most}; make it a varchar`,
        );
      return text;
    },
    comparedSql: (column, { modifier }) =>
      isPadded ? `rpad(${asText(column)}, ${modifier - 4})` : asText(column),
  };
}

function integerKind(bits: number): ColumnKind {
  const [least, most] = [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n];
  return {
    carry(raw) {
      if (storageClassOf(raw) !== 'integer') return wrongClass(raw, 'a whole number');
      const digits = String(raw);
      // SQLite holds 64 bits, and anything shorter than ten digits fits into 32.
      if (bits === 64 || (bits === 32 && digits.length < 10)) return digits;
      const value = BigInt(digits);
      if (value >= least && value <= most) return digits;
      return new ValueFault(`is ${digits}, and the column holds ${least} to ${most}; make it a bigint`);
    },
    comparedSql: asText,
  };
}

function floatKind(bits: 32 | 64): ColumnKind {
  return {
    carry(raw) {
      const storage = storageClassOf(raw);
      if (storage !== 'real' && storage !== 'integer') return wrongClass(raw, 'a number');
      const value = Number(raw);
      const isExact = storage === 'real' || BigInt(value) === BigInt(String(raw));
      if (isExact && (bits === 64 || Math.fround(value) === value)) return String(value);
      return new ValueFault(`is ${shownRaw(raw)}, which the column would round; give it a wider type`);
    },
    compared(carried) {
      const bytes = Buffer.alloc(bits / 8);
      if (bits === 64) bytes.writeDoubleBE(Number(carried));
      else bytes.writeFloatBE(Number(carried));
      return bytes.toString('hex');
    },
    comparedSql: (column) => `encode(float${bits / 8}send(${column}), 'hex')`,
  };
}

/** Text of one form, which `form` names. */
function formKind(
  hasForm: (text: string) => boolean,
  form: string,
  more: Partial<ColumnKind> = {},
): ColumnKind {
  return {
    carry(raw) {
      const text = Buffer.isBuffer(raw) && isUtf8(raw) ? raw.toString('utf8') : undefined;
      if (text !== undefined && !text.includes('\0') && hasForm(text)) return text;
      return new ValueFault(`is ${shownRaw(raw)}, not ${form}; correct it`);
    },
    comparedSql: asText,
    ...more,
  };
}

const BOOLEAN: ColumnKind = {
  carry(raw) {
    if (raw === '0' || raw === '1') return raw === '1' ? 'true' : 'false';
    return new ValueFault(`is ${shownRaw(raw)}, not 0 or 1; correct it`);
  },
  comparedSql: asText,
};

const BYTES: ColumnKind = {
  carry: (raw) =>
    typeof raw === 'string' && raw.startsWith('x') ? `\\x${raw.slice(1)}` : wrongClass(raw, 'a blob'),
  compared: (carried) => carried.slice(2).toLowerCase(),
  comparedSql: (column) => `encode(${column}, 'hex')`,
};

const DECIMAL: ColumnKind = {
  carry(raw, { modifier }) {
    const text = Buffer.isBuffer(raw) ? raw.toString('utf8') : String(raw);
    const [, whole = '', fraction = ''] = /^-?0*(\d+)(?:\.(\d*?)0*)?$/.exec(text) ?? [];
    if (whole === '') return new ValueFault(`is ${shownRaw(raw)}, not a decimal number; correct it`);
    const [precision, scale] = [(modifier - 4) >> 16, (modifier - 4) & 0xff_ff];
    if (modifier < 0 || (fraction.length <= scale && (whole === '0' ? 0 : whole.length) <= precision - scale))
      return text;
    return new ValueFault(
      `is ${shownRaw(raw)}, and the column holds numeric(${precision}, ${scale}); correct it`,
    );
  },
  compared(carried) {
    const [, sign = '', whole = '', fraction = ''] = /^(-?)0*(\d+)(?:\.(\d*?)0*)?$/.exec(carried) ?? [];
    const digits = fraction === '' ? whole : `${whole}.${fraction}`;
    return digits === '0' ? '0' : `${sign}${digits}`;
  },
  comparedSql: (column) => `trim_scale(${column})::text`,
};

const ENUM: ColumnKind = {
  carry(raw, { labels }) {
    const text = Buffer.isBuffer(raw) ? raw.toString('utf8') : undefined;
    if (text !== undefined && labels.includes(text)) return text;
    return new ValueFault(`is ${shownRaw(raw)}, none of ${labels.join(', ')}; correct it`);
  },
  comparedSql: asText,
};

/** As TypeORM writes them to SQLite: in UTC. */
const INSTANT = formKind(
  (text) =>
    isDay(text.slice(0, 10)) && /^[ T]$/.test(text.charAt(10)) && isTime(text.slice(11).replace(/Z$/, '')),
  'an instant such as 2026-11-22 08:30:00.000',
  { compared: toMicroseconds, comparedSql: (column) => `to_char(${column}, 'YYYY-MM-DD HH24:MI:SS.US')` },
);

/** By the name of the type in pg_type. Others, such as jsonb, do not keep what they are given as it is. */
const KINDS: Readonly<Record<string, ColumnKind>> = {
  text: textKind(false),
  varchar: textKind(false),
  bpchar: textKind(true),
  int2: integerKind(16),
  int4: integerKind(32),
  int8: integerKind(64),
  float4: floatKind(32),
  float8: floatKind(64),
  numeric: DECIMAL,
  bool: BOOLEAN,
  bytea: BYTES,
  enum: ENUM,
  timestamp: INSTANT,
  timestamptz: INSTANT,
  date: formKind(isDay, 'a date such as 2026-11-22'),
  time: formKind(isTime, 'a time such as 08:30:00', {
    compared: toMicroseconds,
    comparedSql: (column) => `to_char(${column}, 'HH24:MI:SS.US')`,
  }),
  uuid: formKind(isUuid, 'a UUID', {
    compared: (carried) => carried.toLowerCase(),
  }),
  json: formKind(isJson, 'JSON'),
};

function wrongClass(raw: RawValue, wanted: string): ValueFault {
  return new ValueFault(
    `is stored as ${storageClassOf(raw)} (${shownRaw(raw)}), not as ${wanted}; correct it`,
  );
}
