import type { Settings } from '../../core/config/settings.js';
import { type DocumentOutline, serverAddressOf } from './document-outlines.js';

/**
 * The environments of the specification (heading "What the service does"), of which staging is left out while it has no address. The
 * first server is what pages and generated clients send to.
 */
export function serversOf({ publicBaseUrl, stagingBaseUrl }: Settings, outline: DocumentOutline) {
  const production = {
    url: serverAddressOf(outline, publicBaseUrl),
    description: publicBaseUrl.startsWith('/')
      ? 'Production: the service that serves this document'
      : 'Production',
  };
  return stagingBaseUrl === null
    ? [production]
    : [production, { url: serverAddressOf(outline, stagingBaseUrl), description: 'Staging' }];
}
