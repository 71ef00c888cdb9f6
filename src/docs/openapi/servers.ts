import type { Settings } from '../../core/config/settings.js';
import type { DocumentOutline } from './document-outlines.js';

/**
 * The environments of the specification (heading "What the service does"), of which staging is left out while it has no address. The
 * first server is what pages and generated clients send to.
 */
export function serversOf({ publicBaseUrl, stagingBaseUrl }: Settings, { serverOf }: DocumentOutline) {
  const production = {
    url: serverOf(publicBaseUrl),
    description: publicBaseUrl.startsWith('/')
      ? 'Production: the service that serves this document'
      : 'Production',
  };
  return stagingBaseUrl === null
    ? [production]
    : [production, { url: serverOf(stagingBaseUrl), description: 'Staging' }];
}
