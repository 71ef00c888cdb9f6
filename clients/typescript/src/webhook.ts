import { WebhookVerificationError } from './errors.js';
import { type Int64Form, type Int64Of, readJson } from './json.js';
import type { Pet } from './types.js';

type OtherEvent =
  'api_key.banned' | 'api_key.expiring' | 'quota.threshold' | 'webhook.test' | 'webhook_endpoint.disabled';

/** A verified message. It may arrive more than once, with the same `id`. */
export type WebhookMessage<Int64 = bigint> = { readonly id: string; readonly timestamp: string } & (
  | { readonly type: 'pets.created'; readonly data: Pet<Int64> }
  | { readonly type: OtherEvent; readonly data: Readonly<Record<string, unknown>> }
);

type HeadersInput = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
const TOLERANCE_S = 300;
const HMAC = { name: 'HMAC', hash: 'SHA-256' };

/**
 * Verifies a webhook message and parses its body, with exact integers. Rejects with a WebhookVerificationError unless one of its signatures
 * was created with the secret (`whsec_…`), and its timestamp is at most five minutes in the past or future.
 * @param body the received body, before any parsing
 * @param headers the headers of the request, in Node.js `request.headers`
 */
export async function verifyWebhook<Form extends Int64Form = 'bigint'>(
  body: string | Uint8Array,
  headers: HeadersInput,
  secret: string,
  { int64 }: { readonly int64?: Form } = {},
): Promise<WebhookMessage<Int64Of<Form>>> {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => {
    const value = headers instanceof Headers ? headers.get(`webhook-${name}`) : headers[`webhook-${name}`];
    return String(value ?? '');
  }) as [string, string, string];
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp || Number.NaN)) <= TOLERANCE_S))
    throw new WebhookVerificationError(
      'The webhook-timestamp is missing, or more than five minutes in the past or future.',
    );
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const bytes = bytesOf(secret.replace(/^whsec_/, ''));
  const key = await crypto.subtle.importKey('raw', bytes, HMAC, false, ['verify']);
  for (const one of signatures.split(' ')) {
    if (!/^v1,[A-Za-z0-9+/]{43}=$/.test(one)) continue;
    if (!(await crypto.subtle.verify('HMAC', key, bytesOf(one.slice(3)), signed))) continue;
    const { type } = JSON.parse(text) as { type: string };
    const message = readJson(text, type === 'pets.created' ? [{ data: ['Pet'] }] : [], int64 ?? 'bigint');
    return { id, ...(message as object) } as WebhookMessage<Int64Of<Form>>;
  }
  throw new WebhookVerificationError('No webhook-signature was created with this secret.');
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
