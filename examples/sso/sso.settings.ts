import { type JsonWebKey, type KeyObject, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type SettingType, defineSettings, httpUrl, textUpTo } from 'petstore-service';

/** The keys for ES256, the only accepted algorithm, by id. */
export type KeySet = ReadonlyMap<unknown, KeyObject>;

/** The type of a setting whose file is read at startup. */
const keySetFile: SettingType<KeySet> = {
  mustBe: 'a file with a JWK Set that contains a key of the type EC with the curve P-256',
  parse(file) {
    try {
      const { keys } = JSON.parse(readFileSync(file, 'utf8')) as { keys: (JsonWebKey & { kid: string })[] };
      const suitable = keys.filter(({ kty, crv }) => kty === 'EC' && crv === 'P-256');
      if (suitable.length === 0) return undefined;
      return new Map(suitable.map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })]));
    } catch {
      return undefined;
    }
  },
};

export const SSO_SETTINGS = defineSettings('sso', {
  issuer: { type: httpUrl, default: 'https://sso.example', description: 'Issuer of tokens (claim iss).' },
  audience: { type: textUpTo(200), default: 'petstore', description: 'Audience of tokens (claim aud).' },
  keySet: {
    type: keySetFile,
    default: null,
    description:
      'File with the public keys of the issuer, as a JWK Set (RFC 7517). Without it, no token is accepted.',
  },
});
