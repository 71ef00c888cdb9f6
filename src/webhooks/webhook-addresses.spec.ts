import { describe, expect, it } from 'vitest';
import { exampleEnvironment } from '../core/config/define-settings.js';
import { Settings } from '../core/config/settings.js';
import { HostNames } from './host-names.js';
import { WebhookAddresses } from './webhook-addresses.js';

/** Resolves every name to the given addresses, from one source after the other. */
class Found extends HostNames {
  sources: string[][] = [];

  override async *addressesOf(): AsyncGenerator<readonly string[]> {
    yield* this.sources;
  }
}

const { signal } = new AbortController();
const settings = (networks?: string) =>
  new Settings({ ...exampleEnvironment(), ...(networks ? { WEBHOOK_ALLOWED_NETWORKS: networks } : {}) });

/** The policy for these networks, and a function that applies it to a URL whose host has given addresses. */
function addresses(networks?: string) {
  const names = new Found();
  const policy = new WebhookAddresses(settings(networks), names);
  return Object.assign(policy, {
    among: (url: string, ...sources: string[][]) => {
      names.sources = sources;
      return policy.of(new URL(url), signal);
    },
  });
}

const NOT_PUBLIC: [what: string, address: string][] = [
  ['this network', '0.0.0.0'],
  ['private 10/8', '10.0.0.1'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['carrier-grade NAT', '100.127.255.255'],
  ['loopback', '127.0.0.1'],
  ['link-local, and the metadata of clouds', '169.254.169.254'],
  ['private 172.16/12', '172.16.0.1'],
  ['private 172.16/12', '172.31.255.255'],
  ['IETF protocols', '192.0.0.8'],
  ['documentation 1', '192.0.2.1'],
  ['6to4 relays', '192.88.99.1'],
  ['private 192.168/16', '192.168.1.1'],
  ['benchmarks', '198.18.0.1'],
  ['benchmarks', '198.19.255.255'],
  ['documentation 2', '198.51.100.1'],
  ['documentation 3', '203.0.113.1'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified IPv6', '::'],
  ['loopback IPv6', '::1'],
  ['IPv4-compatible', '::7f00:1'],
  ['IPv4-mapped loopback', '::ffff:127.0.0.1'],
  ['IPv4-mapped, in hexadecimal', '::ffff:a00:1'],
  ['IPv4-mapped public', '::ffff:8.8.8.8'],
  ['IPv4-translated', '::ffff:0:10.0.0.1'],
  ['NAT64', '64:ff9b::a00:1'],
  ['local NAT64', '64:ff9b:1::a00:1'],
  ['discard', '100::1'],
  ['Teredo', '2001::1'],
  ['benchmarks IPv6', '2001:2::1'],
  ['ORCHID', '2001:20::1'],
  ['documentation IPv6', '2001:db8::1'],
  ['6to4 of a private address', '2002:a00:1::1'],
  ['documentation IPv6, new', '3fff::1'],
  ['segment routing', '5f00::1'],
  ['unique local', 'fc00::1'],
  ['link-local IPv6', 'fe80::1'],
  ['link-local IPv6 with a zone', 'fe80::1%eth0'],
  ['public IPv6 with a zone', '2606:4700::1%eth0'],
  ['site-local', 'fec0::1'],
  ['multicast IPv6', 'ff02::1'],
  ['no address', 'localhost'],
];
const PUBLIC = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '198.20.0.1', '223.255.255.255'].concat(
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  '2a00:1450::1',
);

describe('an address', () => {
  it.each(NOT_PUBLIC)(
    'that is not public (%s: %s) is refused, also when a name has it',
    async (_, address) => {
      const policy = addresses();
      expect(policy.allows(address)).toBe(false);
      await expect(policy.among('https://hooks.example/', [address])).rejects.toThrow(
        'its address is not public',
      );
    },
  );

  it.each(PUBLIC)('that is public (%s) is allowed', async (address) => {
    const policy = addresses();
    expect(policy.allows(address)).toBe(true);
    expect(await policy.among('https://hooks.example/', ['127.0.0.1', address, '::1'])).toEqual([
      { address, family: address.includes(':') ? 6 : 4 },
    ]);
  });

  it('of an allowed network is allowed, also by http; the others stay as they are', async () => {
    const policy = addresses('10.1.0.0/16, fd00::/8, 192.0.2.7');
    expect(['10.1.2.3', 'fd12::1', '192.0.2.7', '8.8.8.8'].map((one) => policy.allows(one))).not.toContain(
      false,
    );
    expect(['10.2.0.1', 'fc00::1', '192.0.2.8', '127.0.0.1'].map((one) => policy.allows(one))).not.toContain(
      true,
    );
    const several = ['8.8.8.8', '10.1.0.1', '10.2.0.1'];
    const local = { address: '10.1.0.1', family: 4 };
    expect(await policy.among('http://hooks.internal/', several)).toEqual([local]);
    expect(await policy.among('https://hooks.internal/', several)).toHaveLength(2);
    await expect(policy.among('http://hooks.example/', ['8.8.8.8'])).rejects.toThrow(
      'its address is not public',
    );
  });

  it('of the first source that has an allowed one is taken', async () => {
    const policy = addresses('10.1.0.0/16');
    const sources = [[], ['10.2.0.1'], ['10.1.0.1'], ['10.1.0.2']];
    expect(await policy.among('https://hooks.example/', ...sources)).toEqual([
      { address: '10.1.0.1', family: 4 },
    ]);
  });
});

const label = (length: number): string => 'a'.repeat(length);

const URLS: [what: string, url: string, fault: string | undefined][] = [
  ['a path and a query', 'https://hooks.example/a?b=c', undefined],
  ['a name alone', 'https://hooks.example', undefined],
  ['percent-encoding', 'https://hooks.example/a%2fb%22?c=%3C', undefined],
  ['Punycode', 'https://xn--bcher-kva.example/', undefined],
  ['a label of 63 letters', `https://${label(63)}.example/`, undefined],
  ['a name of 253 letters', `https://${[63, 63, 63, 61].map(label).join('.')}/`, undefined],
  ['an @ in the path', 'https://hooks.example/@shop', undefined],
  ['a : and an @ in the query', 'https://hooks.example/?to=a:b@c', undefined],
  ['an empty segment in the path', 'https://hooks.example//a', undefined],
  ['another port', 'https://8.8.8.8:8443/', undefined],
  ['a public IPv6 address', 'https://[2606:4700::1111]/', undefined],
  ['a public IPv6 address and a port', 'https://[2606:4700::1111]:8443/', undefined],
  ['a query behind the name', 'https://hooks.example?b=c', 'normal form: https://hooks.example/?b=c'],
  ['the usual port', 'https://hooks.example:443/', 'normal form: https://hooks.example/'],
  ['a quotation mark', 'https://hooks.example/a"b', 'normal form: https://hooks.example/a%22b'],
  ['http', 'http://hooks.example/', 'https://'],
  ['http and an address', 'http://8.8.8.8/', 'https://'],
  ['no scheme', '/hooks', 'absolute'],
  ['no host', 'https://', 'absolute'],
  ['a user', 'https://user@hooks.example/', 'password'],
  ['a password', 'https://:secret@hooks.example/', 'password'],
  ['an empty user', 'https://@hooks.example/', 'normal form: https://hooks.example/'],
  ['a fragment', 'https://hooks.example/#here', 'fragment'],
  [
    'a backslash behind the host',
    String.raw`https://hooks.example\@other.example/`,
    'form: https://hooks.example/@other',
  ],
  ['other letters', 'https://bücher.example/', 'normal form: https://xn--bcher-kva.example/'],
  ['digits of another script', 'https://①②⑦.0.0.1/', 'normal form: https://127.0.0.1/'],
  ['port 0', 'https://hooks.example:0/', 'port must be'],
  ['a port beyond 65535', 'https://hooks.example:65536/', 'a port up to 65535'],
  ['dots for a host', 'https://./', 'The host must be'],
  ['an empty label', 'https://hooks..example/', 'The host must be'],
  ['a dot at the end', 'https://hooks.example./', 'The host must be'],
  ['a label of 64 letters', `https://${label(64)}.example/`, 'The host must be'],
  ['a name of 254 letters', `https://${[63, 63, 63, 62].map(label).join('.')}/`, 'The host must be'],
  ['a host with a comma', 'https://a.example,b.example/', 'The host must be'],
  ['a name that ends as an address', 'https://hooks.1/', 'absolute'],
  ['an IPv6 address without its end', 'https://[2606:4700::1111/', 'absolute'],
  ['an IPv6 address with a zone', 'https://[fe80::1%25eth0]/', 'absolute'],
  ['loopback', 'https://127.0.0.1/', 'not public'],
  ['loopback in short', 'https://127.1/', 'normal form: https://127.0.0.1/'],
  ['a public address with a dot at the end', 'https://8.8.8.8./', 'normal form: https://8.8.8.8/'],
  ['loopback IPv6', 'https://[::1]/', 'not public'],
  ['an IPv4-mapped address', 'https://[::ffff:127.0.0.1]/', 'normal form: https://[::ffff:7f00:1]/'],
  ['a NAT64 address', 'https://[64:ff9b::7f00:1]/', 'not public'],
  ['the metadata of clouds', 'https://169.254.169.254/latest/meta-data', 'not public'],
];

describe('a URL', () => {
  it.each(URLS)('with %s, %j, has the error: %s', (_, url, error) => {
    const found = addresses().urlError(url)?.message;
    if (error === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(error);
  });

  it('that may be used is called as it is written', () => {
    for (const [, url] of URLS.filter(([, , problem]) => problem === undefined)) {
      const { username, password, href } = new URL(url);
      expect(username + password).toBe('');
      expect([url, `${url}/`]).toContain(href);
    }
  });

  it.each([
    ['http://10.0.0.1/', undefined],
    ['https://10.0.0.1/', undefined],
    ['http://hooks.internal/', undefined],
    ['http://8.8.8.8/', 'https://'],
    ['http://11.0.0.1/', 'https://'],
    ['http://192.168.0.1/', 'not public'],
    ['http://localhost/', 'the machine that runs the service'],
    ['https://localhost:8443/', 'the machine that runs the service'],
    ['https://shop.LOCALHOST/', 'normal form: https://shop.localhost/'],
    ['https://shop.localhost/', 'the machine that runs the service'],
    ['https://mylocalhost/', undefined],
    ['http://localhost./', 'The host must be'],
    ['http://@localhost/', 'normal form: http://localhost/'],
    ['http://localhost:0/', 'port must be'],
  ])('%s has, with an allowed network, the error: %s', (url, problem) => {
    const found = addresses('10.0.0.0/8').urlError(url)?.message;
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });

  it.each(['127.0.0.0/8', '::1'])('may be of localhost where %s is an allowed network', (network) => {
    expect(addresses(network).urlError('http://localhost:8080/hooks')).toBeUndefined();
  });
});

it.each(['10.0.0.0/33', '10.0.0.0/0', 'hooks.example', '10.0.0.0/8,', '10.0.0.0/8/8', '::/0'])(
  'WEBHOOK_ALLOWED_NETWORKS=%s stops the start',
  (networks) => expect(() => settings(networks)).toThrow('it must be networks as CIDRs'),
);
