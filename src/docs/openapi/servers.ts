import type { Settings } from '../../core/config/settings.js';
import type { DocumentOutline } from './document-outlines.js';

/** The environments of the specification; staging only if it has a URL. Pages and clients use the first. */
export function serversOf({ publicBaseUrl, stagingBaseUrl }: Settings, { base }: DocumentOutline) {
  const addressOf = (baseUrl: string) => baseUrl.replace(/\/v1$/, base) || '/';
  const isHere = publicBaseUrl.startsWith('/');
  const production = isHere ? 'Production: the service that serves this document' : 'Production';
  return [
    { url: addressOf(publicBaseUrl), description: production },
    ...(stagingBaseUrl === null ? [] : [{ url: addressOf(stagingBaseUrl), description: 'Staging' }]),
  ];
}
