import { isCatalogued } from './define-errors.js';

/** The page that explains every code of the catalogue, each under its own anchor. */
export const ERRORS_PATH = '/docs/errors';

/** The `Link` to an error's explanation (relation `help`); undefined for a code that is not in the catalogue. */
export function helpLink(prefix: string, code: string): { readonly Link?: string } {
  return isCatalogued(code) ? { Link: `<${prefix}${ERRORS_PATH}#${code}>; rel="help"` } : {};
}
