import { verifyApiKey } from '../auth/api-key.format.js';
import type { Call } from './frame/call.js';
import { Refusal } from '../core/refusal.js';

/** `petstore key verify`: checks whether a string can be a key. */
export async function verify(call: Call, value: string): Promise<void> {
  const verdict = verifyApiKey(await call.secret(value, 'Key'));
  await call.show(verdict, () =>
    verdict.wellFormed
      ? `This has the format and checksum of a ${verdict.environment} key, ${verdict.prefix}…\n` +
        'To see whether this service issued it and whether it works, use `petstore key show`.'
      : undefined,
  );
  if (!verdict.wellFormed) throw new Refusal(`This is not a key. ${verdict.reason}`);
}
