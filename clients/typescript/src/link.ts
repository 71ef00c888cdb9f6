/**
 * The target of a relation in the value of a `Link` (RFC 8288), as it was sent; undefined when no link has it. Throws a SyntaxError for
 * what is no such value, because a list that ends too early would look complete.
 */
export function linkTarget(value: string, relation: string): string | undefined {
  const link =
    /\s*<([^>]*)>((?:\s*;\s*[\w!#$&+.^`|~*-]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s",;]+))?)*)\s*(?:,|$)/y;
  let found: string | undefined;
  while (link.lastIndex < value.length) {
    const [, target = '', parameters = ''] = link.exec(value) ?? fail(value);
    if (found === undefined && relationsIn(parameters).includes(relation)) found = target;
  }
  return found;
}

/** The relations of a link: the words of its first `rel`. */
function relationsIn(parameters: string): readonly string[] {
  const [, quoted, word] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]+))/i.exec(parameters) ?? [];
  return (quoted ?? word ?? '').toLowerCase().split(/\s+/);
}

function fail(value: string): never {
  throw new SyntaxError(`"${value.slice(0, 80)}" is no Link`);
}
