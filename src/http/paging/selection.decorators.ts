import type { Bindable, Comparison, Condition, Order, Selection } from '../../database/selection.js';
import { invalidDeclaration, decorated } from '../../core/declaration-errors.js';
import { ApiError, type ErrorDetail } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { defineField, valuesError } from '../validation/define-field.js';

/** A parameter of a list that filters it. */
export interface DeclaredFilter {
  readonly parameter: string;
  /** The property of the listed entity. */
  readonly property: string;
  readonly comparison: Comparison;
}

/** The declared filters and sort orders of a list. */
export interface DeclaredSelection {
  readonly filters: readonly DeclaredFilter[];
  /** The sort parameter and its values: properties of the listed entity, with a leading minus for descending order. */
  readonly sort?: { readonly parameter: string; readonly by: readonly string[] };
}

const SELECTION = 'petstore:selection';

/** The declared filters and sort orders of a query class; undefined if there are none. */
export function declaredSelectionOf(query: object): DeclaredSelection | undefined {
  return Reflect.getMetadata(SELECTION, query) as DeclaredSelection | undefined;
}

function declare(target: object, more: Partial<DeclaredSelection>): void {
  const known = declaredSelectionOf(target.constructor);
  const filters = [...(known?.filters ?? []), ...(more.filters ?? [])];
  Reflect.defineMetadata(SELECTION, { ...known, ...more, filters }, target.constructor);
}

/**
 * Turns an optional field of a PageQuery into a filter. An entity is listed if `property` (by default, the one named like the parameter)
 * equals the value, equals any value of a `list` field, or satisfies `comparison`. A `prefix` is literal text without wildcards. A
 * comparison other than equality orders the list by its property.
 */
export function Filter(
  options: { readonly property?: string; readonly comparison?: Comparison } = {},
): PropertyDecorator {
  return (target, parameter) => {
    const { property = String(parameter), comparison = '=' } = options;
    const error = comparisonError(comparison, Reflect.getMetadata('design:type', target, parameter));
    if (error !== undefined) invalidDeclaration(`${decorated(target, parameter)}: ${error}`);
    declare(target, { filters: [{ parameter: String(parameter), property, comparison }] });
  };
}

const NO_TEXT: ReadonlySet<unknown> = new Set([Number, BigInt, Boolean]);

/** The error for a comparison that this type of field does not support. */
function comparisonError(comparison: Comparison, type: unknown): string | undefined {
  if (comparison === '=') return undefined;
  if (type === Array) return `a list supports only "=", not "${comparison}". Change one of them.`;
  if (comparison === 'prefix' && NO_TEXT.has(type))
    return '"prefix" is only for strings. Use another comparison.';
  return undefined;
}

/**
 * The sort parameter of a PageQuery: one of these properties of the listed entity, such as `createdAt`, or `-createdAt` for descending
 * order. Ties are sorted by id; without the parameter, the list is sorted by id.
 */
export function Sort(options: { readonly by: readonly string[] }): PropertyDecorator {
  const { by } = options;
  const field = defineField<string, string>(
    {
      schema: { type: 'string', enum: [...by] },
      declares: ['@Sort()', String],
      fault: valuesError(by),
      code: 'not_allowed_value',
      mustBe: `one of ${by.join(', ')}`,
      parse: (sent) => by.find((value) => value === sent),
    },
    {
      optional: true,
      description:
        'Order of the entries, descending with a leading minus. Equal entries, and all entries without this ' +
        'parameter, are ordered by id. A filter by a range or a prefix orders by its field',
    },
  );
  return (target, parameter) => {
    field(target, parameter);
    declare(target, { sort: { parameter: String(parameter), by } });
  };
}

/**
 * The selection of a query, from the filters and sort order of its class. Throws validation_failed for combinations that no index supports:
 * ranges of two properties, or a range and another sort property.
 */
export function selectionOf(query: object): Selection {
  const declared = declaredSelectionOf(query.constructor);
  if (!declared) return {};
  const sent = query as Readonly<Record<string, unknown>>;
  const used = declared.filters.filter(({ parameter }) => sent[parameter] !== undefined);
  const where = used.map(({ parameter, property, comparison }): Condition => ({
    property,
    comparison,
    value: bindable(sent[parameter]),
  }));
  const order = declared.sort && orderIn(sent[declared.sort.parameter]);
  const ranges = used.filter(({ comparison }) => comparison !== '=');
  const [range] = ranges;
  if (!range) return { where, ...(order ? { order } : {}) };
  const errors = errorsOf(range, ranges, order, declared);
  if (errors.length > 0) throw new ApiError(HTTP_ERRORS.validation_failed, { details: errors });
  return { where, order: order ?? { property: range.property, isDescending: false } };
}

function orderIn(sort: unknown): Order | undefined {
  if (typeof sort !== 'string') return undefined;
  const isDescending = sort.startsWith('-');
  return { property: isDescending ? sort.slice(1) : sort, isDescending };
}

function errorsOf(
  range: DeclaredFilter,
  ranges: readonly DeclaredFilter[],
  order: Order | undefined,
  { sort }: DeclaredSelection,
): ErrorDetail[] {
  const errors = ranges
    .filter(({ property }) => property !== range.property)
    .map(({ parameter }) => ({
      field: parameter,
      code: 'conflicting_filter',
      message: `This cannot be combined with ${range.parameter}.`,
    }));
  if (!sort || !order || order.property === range.property) return errors;
  const fitting = sort.by.filter((one) => one === range.property || one === `-${range.property}`);
  const mustBe = fitting.length === 0 ? 'absent' : fitting.join(' or ');
  const message = `With ${range.parameter} this must be ${mustBe}.`;
  return [...errors, { field: sort.parameter, code: 'conflicting_sort', message }];
}

function bindable(value: unknown): Condition['value'] {
  return Array.isArray(value) ? value.map(bindableOne) : bindableOne(value);
}

/** An int64 is bound as decimal text, which a driver does not round. */
function bindableOne(value: unknown): Bindable {
  if (typeof value === 'number') return value;
  return typeof value === 'boolean' ? Number(value) : String(value);
}
