/** How a column is compared. Prefixes are compared byte by byte and are case-sensitive. */
export type Comparison = '=' | '>=' | '>' | '<=' | '<' | 'prefix';

/** A value for a driver; an int64 is bound as text, which the column converts. */
export type Bindable = string | number;

/** A condition on a property of the listed rows; with several values, any of them may match. */
export interface Condition {
  readonly property: string;
  readonly comparison: Comparison;
  readonly value: Bindable | readonly Bindable[];
}

/** Sorts a list by a property that is never null, then by id. */
export interface Order {
  readonly property: string;
  readonly isDescending: boolean;
}

/** A condition of a statement. For a list, the comparison is `=` with any of its values. */
export interface PageCondition {
  readonly property: string;
  readonly comparison: Exclude<Comparison, 'prefix'>;
  /** Whether text is compared byte by byte, whatever the collation of the column. */
  readonly isBinary?: boolean;
  readonly value: Bindable | readonly (Bindable | null)[];
}

/** Filters and sorts a list; without an order, by id. */
export interface Selection {
  readonly where?: readonly Condition[];
  readonly order?: Order;
}

/** The conditions, with each prefix replaced by the range of texts that start with it. */
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
 * The smallest text after all texts with this prefix, in the order of code points, which is also that of UTF-8; undefined if there is none.
 */
function textAfterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last + 1 === FIRST_SURROGATE ? LAST_SURROGATE + 1 : last + 1;
  return String.fromCodePoint(...points, next);
}
