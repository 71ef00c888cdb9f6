const LITERAL = /^[\w.~-]*$/;
const PARAMETER = /^:(\w+)$/;

/** A path such as `/v1/pets/:petId`, made of nothing but literals and parameters. */
export class PathTemplate {
  private readonly segments: readonly string[];

  private constructor(readonly path: string) {
    this.segments = path.split('/').slice(1);
  }

  /** Undefined for anything else that Express takes for a path, such as a wildcard or a regular expression. */
  static of(path: unknown): PathTemplate | undefined {
    if (typeof path !== 'string' || !path.startsWith('/')) return undefined;
    const template = new PathTemplate(path);
    const isPlain = template.segments.every((segment) => LITERAL.test(segment) || PARAMETER.test(segment));
    return isPlain ? template : undefined;
  }

  get hasParameters(): boolean {
    return this.segments.some((segment) => PARAMETER.test(segment));
  }

  /** The parameters of a path of this template, undefined for any other path. */
  match(path: string): Record<string, string> | undefined {
    const values = path.split('/').slice(1);
    if (values.length !== this.segments.length) return undefined;
    const parameters = Object.create(null) as Record<string, string>;
    for (const [index, segment] of this.segments.entries()) {
      const [name, value] = [PARAMETER.exec(segment)?.[1], values[index] ?? ''];
      if (name === undefined ? value !== segment : value === '') return undefined;
      if (name !== undefined) parameters[name] = value;
    }
    return parameters;
  }

  /** Whether no path is of both templates; with `asPrefix`, whether none begins with one of the other's. */
  isApartFrom(other: PathTemplate, asPrefix = false): boolean {
    if (
      asPrefix ? other.segments.length > this.segments.length : other.segments.length !== this.segments.length
    )
      return true;
    return other.segments.some((segment, index) => {
      const own = this.segments[index] ?? '';
      const areLiteral = LITERAL.test(segment) && LITERAL.test(own);
      return areLiteral && segment.toLowerCase() !== own.toLowerCase();
    });
  }
}
