import express from 'express';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trustedProxies, type TrustsHop } from './request-address.js';

/** Express's own function for a list of proxies. */
function expressTrust(ranges: readonly string[]): TrustsHop {
  const app = express();
  app.set('trust proxy', ranges);
  return app.get('trust proxy fn') as TrustsHop;
}

const RANGES = ['10.0.0.0/8', '::1', 'fc00::/7', '192.168.1.1', '::ffff:172.16.0.0/108', '1.2.3.4/31'];

describe('a trusted proxy', () => {
  it.each(['', 'unknown', '_hidden', '10.0.0.1:80', '[::1]', '010.0.0.1', '10.1', '167772161', '::1 '])(
    'has a valid address: %j does not match',
    (text) => {
      expect(trustedProxies(RANGES)(text, 0)).toBe(false);
    },
  );

  it('is that of the same addresses as in Express', () => {
    const [ours, theirs] = [trustedProxies(RANGES), expressTrust(RANGES)];
    const v4 = fc.ipV4();
    const near = fc.constantFrom('10.1.2.3', '172.16.9.9', '192.168.1.1', '1.2.3.4', '1.2.3.5', '1.2.3.6');
    const address = fc.oneof(
      v4,
      near,
      // Express does not match an IPv6 address with an IPv4 tail (fc00::0.0.0.0); no socket reports one.
      fc.ipV6().filter((text) => !text.includes('.')),
      fc.oneof(v4, near).map((text) => `::ffff:${text}`),
      fc.constant('::1'),
    );
    fc.assert(
      fc.property(address, (text) => {
        expect(ours(text, 0)).toBe(theirs(text, 0));
      }),
      { numRuns: 300 },
    );
  });
});
