const LITERAL = /^[\w.~-]*$/;
const PARAMETER = /^:(\w+)$/;

/** What stands between two slashes: a text, or the name of a parameter. */
type Segment = { readonly literal: string } | { readonly parameter: string };

/** A path such as `/v1/pets/:petId`, made of nothing but literals and parameters. */
export class PathTemplate {
  private constructor(
    readonly path: string,
    private readonly segments: readonly Segment[],
  ) {}

  /** Undefined for anything else that Express takes for a path, such as a wildcard or a regular expression. */
  static of(path: unknown): PathTemplate | undefined {
    if (typeof path !== 'string' || !path.startsWith('/')) return undefined;
    const segments = path.split('/').slice(1).map(segmentOf);
    return segments.every((segment) => segment !== undefined) ? new PathTemplate(path, segments) : undefined;
  }

  get hasParameters(): boolean {
    return this.segments.some((segment) => 'parameter' in segment);
  }

  /** The parameters of a path of this template, undefined for any other path. */
  match(path: string): Record<string, string> | undefined {
    const values = path.split('/').slice(1);
    if (values.length !== this.segments.length) return undefined;
    const parameters = Object.create(null) as Record<string, string>;
    for (const [index, segment] of this.segments.entries()) {
      const value = values[index] ?? '';
      if ('literal' in segment ? value !== segment.literal : value === '') return undefined;
      if ('parameter' in segment) parameters[segment.parameter] = value;
    }
    return parameters;
  }

  /** Whether a path may be of both templates. */
  overlaps(other: PathTemplate): boolean {
    return other.segments.length === this.segments.length && this.mayBeginWith(other);
  }

  /** Whether a path of this template may begin with one of the other. Case is not told apart: some middlewares do not. */
  mayBeginWith(other: PathTemplate): boolean {
    return (
      other.segments.length <= this.segments.length &&
      other.segments.every((segment, index) => {
        const own = this.segments[index];
        if (!own || !('literal' in own) || !('literal' in segment)) return true;
        return own.literal.toLowerCase() === segment.literal.toLowerCase();
      })
    );
  }
}

function segmentOf(text: string): Segment | undefined {
  if (LITERAL.test(text)) return { literal: text };
  const parameter = PARAMETER.exec(text)?.[1];
  return parameter === undefined ? undefined : { parameter };
}
