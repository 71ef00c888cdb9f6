import { verifyApiKey } from '../auth/clients/api-key.format.js';
import { action } from './action.js';

/** `petstore key verify`: whether a string may be a key. */
export const verify = action({
  runAlone: async ({ argument }) => Promise.resolve(verifyApiKey(argument)),
  text: (verdict) =>
    verdict.wellFormed
      ? `This has the shape and the checksum of a ${verdict.environment} key, ${verdict.prefix}…\n` +
        'Whether it was issued here, and still works, `petstore key show` tells.'
      : undefined,
  refusal: (verdict) => (verdict.wellFormed ? undefined : `This is no key. ${verdict.reason}`),
});
