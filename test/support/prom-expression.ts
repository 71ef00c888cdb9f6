/** What an expression of Prometheus asks for. */
export interface Asked {
  /** Names of metrics. */
  readonly metrics: readonly string[];
  /** Names of labels that it selects or groups by. */
  readonly labels: readonly string[];
}

/** Words of the language that are no metric. */
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'group_left', 'group_right']);

/** The metrics and labels that an expression names; any other name that is not followed by `(` counts as a metric. */
export function askedBy(expression: string): Asked {
  const labels: string[] = [];
  const collect = (names: string): string => {
    labels.push(...(names.match(/[a-zA-Z_]\w*/g) ?? []));
    return ' ';
  };
  const rest = expression
    .replace(/"[^"]*"/g, '""')
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/\{([^}]*)\}/g, (_, matchers: string) => collect(matchers))
    .replace(/\b(?:by|without|on|ignoring) *\(([^)]*)\)/g, (_, names: string) => collect(names));
  const names = [...rest.matchAll(/(?<![\w.])[a-zA-Z_:][\w:]*(?! *\(|\w)/g)].map(([name]) => name);
  return {
    metrics: [...new Set(names.filter((name) => !WORDS.has(name)))],
    labels: [...new Set(labels)],
  };
}
