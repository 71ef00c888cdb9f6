import type { Settings } from '../../core/config/settings.js';
import { type DocumentOutline, serverAddressOf } from './document-outlines.js';

/** The environments of the specification, staging only where it has an address; pages and clients send to the first. */
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
