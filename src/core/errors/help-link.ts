import { isCatalogued } from './define-errors.js';

/** The page that explains every code of the catalogue, each under its own anchor. */
export const ERRORS_PATH = '/docs/errors';

/** The `Link` of a refusal to the page that explains it (relation `help`); none for a code that is in no catalogue. */
export function helpLink(prefix: string, code: string): { readonly Link?: string } {
  return isCatalogued(code) ? { Link: `<${prefix}${ERRORS_PATH}#${code}>; rel="help"` } : {};
}
