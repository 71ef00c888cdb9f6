import { PLATFORM_SETTINGS } from '../../core/config/platform-settings.js';
import type { Settings } from '../../core/config/settings.js';
import type { DocumentOutline } from './document-outlines.js';

/** What STAGING_BASE_URL is while it is not set. */
const PLACEHOLDER = PLATFORM_SETTINGS.settings.find(({ property }) => property === 'stagingBaseUrl')?.default;

/**
 * Both environments of the specification (heading "What the service does"). An address that is still the placeholder of its
 * setting is told to be one and comes last: the first server is what pages and generated clients send to.
 */
export function serversOf({ publicBaseUrl, stagingBaseUrl }: Settings, { serverOf }: DocumentOutline) {
  const production = {
    url: serverOf(publicBaseUrl),
    description: publicBaseUrl.startsWith('/')
      ? 'Production: the service that serves this document'
      : 'Production',
  };
  const isPlaceholder = stagingBaseUrl === PLACEHOLDER;
  const staging = {
    url: serverOf(stagingBaseUrl),
    description: isPlaceholder
      ? 'Staging: a placeholder, behind which there is nothing, until STAGING_BASE_URL is set'
      : 'Staging',
  };
  return [production, staging];
}
