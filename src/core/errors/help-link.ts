import type { IncomingMessage } from 'node:http';
import { publicPrefix } from '../public-prefix.js';
import { errorCatalogue } from './define-errors.js';

/** The page that explains every code of the catalogue, each under its own anchor. */
export const ERRORS_PATH = '/docs/errors';

/**
 * The `Link` of refusals to the page that explains them (RFC 8288, relation `help` of HTML): a relative reference for each code of
 * the catalogue, made once. A code that is in no catalogue has no place on the page, and no link.
 */
export class HelpLinks {
  private readonly prefix: string;
  private byCode: ReadonlyMap<string, string> | undefined;

  constructor(publicBaseUrl: string) {
    this.prefix = publicPrefix(publicBaseUrl);
  }

  /** The value of `Link` for a refusal with this code; undefined for a code that the page does not explain. */
  of(code: string): string | undefined {
    // Made at the first refusal: by then every module has declared its codes.
    this.byCode ??= new Map(
      errorCatalogue().map((row) => [row.code, `<${this.prefix}${ERRORS_PATH}#${row.code}>; rel="help"`]),
    );
    return this.byCode.get(code);
  }
}

const ofApplications = new WeakMap<object, HelpLinks>();

/** Gives the refusals of an Express application their links. */
export function useHelpLinks(application: object, links: HelpLinks): void {
  ofApplications.set(application, links);
}

/** The link for a refusal of this request; undefined where it did not get as far as an application, or for an unknown code. */
export function helpLinkFor(
  request: IncomingMessage & { readonly app?: object },
  code: string,
): string | undefined {
  return request.app && ofApplications.get(request.app)?.of(code);
}
