import { defineSettings, httpUrl, textUpTo } from 'petstore-service';

export const SSO_SETTINGS = defineSettings('sso', {
  issuer: { type: httpUrl, default: 'https://sso.example', description: 'Issuer of tokens (claim iss).' },
  audience: { type: textUpTo(200), default: 'petstore', description: 'Audience of tokens (claim aud).' },
  keySet: {
    type: textUpTo(1_000),
    default: 'sso-keys.json',
    description: 'File with the public keys of the issuer, as a JWK Set (RFC 7517).',
  },
});
