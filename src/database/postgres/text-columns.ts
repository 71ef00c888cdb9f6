/** Types of columns that hold text, as entities and migrations name them. */
const TEXTS = new Set<unknown>([
  'varchar',
  'character varying',
  'char',
  'text',
  'simple-json',
  'simple-array',
  String,
]);

/** Whether a column holds text. It has the collation "C", so that it is compared and ordered by bytes, as on SQLite. */
export function isText(type: unknown): boolean {
  return TEXTS.has(type);
}
