/** How the value of a column is compared. A prefix is compared byte by byte, in upper and lower case as it is. */
export type Comparison = '=' | '>=' | '>' | '<=' | '<' | 'prefix';

/** A value that a driver binds; an int64 is bound as text, which the column converts. */
export type Bindable = string | number;

/** A condition on a property of the listed rows; of several values any may be equal. */
export interface Condition {
  readonly property: string;
  readonly comparison: Comparison;
  readonly value: Bindable | readonly Bindable[];
}

/** The order of a list: by a property that is never null, and by id where that is equal. */
export interface Order {
  readonly property: string;
  readonly isDescending: boolean;
}

/** A condition of a statement. A list, whose row equals any of its values, has the comparison `=`. */
export interface PageCondition {
  readonly property: string;
  readonly comparison: Exclude<Comparison, 'prefix'>;
  /** Whether text is compared byte by byte, whatever the collation of the column. */
  readonly isBinary?: boolean;
  readonly value: Bindable | readonly (Bindable | null)[];
}

/** Which rows a list has, and in which order; by id without an order. */
export interface Selection {
  readonly where?: readonly Condition[];
  readonly order?: Order;
}

/** The conditions, with a prefix as the range of the texts that begin with it. */
export function comparisonsOf(where: readonly Condition[]): PageCondition[] {
  return where.flatMap(({ property, comparison, value }): PageCondition[] => {
    if (comparison !== 'prefix') return [{ property, comparison, value }];
    const [from, end] = [String(value), textAfterPrefix(String(value))];
    const atLeast: PageCondition = { property, comparison: '>=', isBinary: true, value: from };
    return end === undefined ? [atLeast] : [atLeast, { ...atLeast, comparison: '<', value: end }];
  });
}

const [LAST_CODE_POINT, FIRST_SURROGATE, LAST_SURROGATE] = [0x10_ffff, 0xd800, 0xdfff];

/**
 * The least text that follows every text with this prefix, in the order of code points, which is that of their UTF-8; undefined
 * when no text does.
 */
function textAfterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last + 1 === FIRST_SURROGATE ? LAST_SURROGATE + 1 : last + 1;
  return String.fromCodePoint(...points, next);
}
