import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { SettingsError, declaredSettings, defineSettings, exampleEnvironment } from './define-settings.js';
import { type SettingType, flag, httpUrl, oneOf, textUpTo, wholeNumber } from './setting.js';
import { Settings } from './settings.js';

const hours: SettingType<number> = {
  mustBe: 'a number of hours such as 12h',
  parse: (value) => (/^\d{1,3}h$/.test(value) ? Number.parseInt(value, 10) : undefined),
  format: (value) => `${value}h`,
};

const KENNELS_SETTINGS = defineSettings('kennels', {
  reservationMs: {
    type: wholeNumber(1_000, 86_400_000),
    default: 600_000,
    description: 'How long an animal stays reserved, in milliseconds.',
  },
  partnerUrl: {
    type: httpUrl,
    default: null,
    description: 'Where kennels are told; a | and a *.',
    secret: true,
  },
  letter: { type: oneOf('short', 'long'), default: 'short', description: 'Length of the letter.' },
  quiet: { type: flag, default: false, description: 'Whether nobody is told.' },
  opening: { type: hours, default: 12, description: 'How long the shelter is open.' },
  greeting: { type: textUpTo(10), default: 'Hello', description: 'How the letter begins.' },
});

function errorsOf(environment: Record<string, string>): readonly string[] {
  try {
    return [`read ${new Settings(environment).port}`];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}

describe('the settings of a feature', () => {
  it.each([
    ['KENNELS_RESERVATION_MS', '1000', 'reservationMs', 1_000],
    ['KENNELS_RESERVATION_MS', '', 'reservationMs', 600_000],
    [
      'KENNELS_PARTNER_URL',
      'https://u:p@partner.example/a?b=1',
      'partnerUrl',
      'https://u:p@partner.example/a?b=1',
    ],
    ['KENNELS_LETTER', ' long ', 'letter', 'long'],
    ['KENNELS_QUIET', 'true', 'quiet', true],
    ['KENNELS_QUIET', 'false', 'quiet', false],
    ['KENNELS_OPENING', '8h', 'opening', 8],
    ['KENNELS_GREETING', 'Hi there!', 'greeting', 'Hi there!'],
  ])('%s=%s', (variable, value, property, expected) => {
    const values = new Settings({ [variable]: value }).of(KENNELS_SETTINGS);
    expect(values[property as keyof typeof values]).toBe(expected);
  });

  it('show no secret, neither in an error nor when they are printed', () => {
    const secret = 'swordfish';
    const [error] = errorsOf({ KENNELS_PARTNER_URL: secret });
    expect(error).toBe(
      'KENNELS_PARTNER_URL: the value is not allowed; it must be a URL that begins with http:// or https://.',
    );
    const settings = new Settings({
      KENNELS_PARTNER_URL: `https://a:${secret}@b.example`,
      REDIS_URL: `redis://:${secret}@c`,
    });
    for (const one of [settings, settings.of(KENNELS_SETTINGS)])
      expect(inspect(one, { depth: 9, showHidden: false }) + JSON.stringify(one)).not.toContain(secret);
    expect(settings.redisUrl).toContain(secret);
  });

  it('include those of a module that is loaded after the start', () => {
    const settings = new Settings({ LATE_SIZE: '3', LATER_SIZE: 'x' });
    const size = { type: wholeNumber(1, 9), default: 1, description: 'Size.' };
    expect(settings.of(defineSettings('late', { size })).size).toBe(3);
    expect(() => settings.of(defineSettings('later', { size }))).toThrow('LATER_SIZE: "x" is not allowed');
  });
});

describe('a required setting', () => {
  const url = {
    type: httpUrl,
    required: true,
    example: 'https://vet.example',
    description: 'Where the vet is asked.',
  } as const;
  // Declared only for the duration of a test: the other tests of this file do not set it.
  const declare = (feature: string) => ({ declared: defineSettings(feature, { url }), feature });

  it.each([
    ['is unset', undefined, 'not set'],
    ['is empty', '', 'not set'],
    ['is blank', '  ', 'not set'],
    ['is none', 'vet', '"vet" is not allowed'],
  ])('stops the start with one line when it %s', (what, value, error) => {
    const { declared, feature } = declare(`vets-${what.split(' ').at(-1)}`);
    const variable = `${feature.replace('-', '_').toUpperCase()}_URL`;
    const read = () => new Settings({ ...exampleEnvironment(), [variable]: value }).of(declared);
    expect(read).toThrow(`${variable}: ${error}; it must be a URL that begins with http:// or https://.`);
  });

  it('needs an example that is allowed, and has no default', () => {
    expect(() => defineSettings('ill-vets', { url: { ...url, example: 'vet' } })).toThrow(
      'Setting ILL_VETS_URL has an example that is not allowed: it must be a URL that begins with http:// or https://.',
    );
    const bare = { type: httpUrl, required: true, description: '' } as const;
    // @ts-expect-error: no example.
    const without = () => defineSettings('bare-vets', { url: bare });
    expect(without).toThrow('Setting BARE_VETS_URL is required, so it must have an example and no default.');
    const both = { ...url, default: 'https://vet.example' };
    // @ts-expect-error: a default is never used.
    expect(() => defineSettings('two-vets', { url: both })).toThrow('and no default.');
    // @ts-expect-error: neither a default nor required.
    const neither = () => defineSettings('no-vets', { url: { type: httpUrl, description: '' } });
    expect(neither).toThrow('Setting NO_VETS_URL must have a default or be required.');
  });
});

describe('a declaration that stops the start', () => {
  const on = { type: flag, default: false, description: 'For a test.' };
  it.each([
    ['a variable of the platform', 'redis', { url: on }, 'Setting REDIS_URL is declared twice.'],
    ['a variable of another feature', 'kennels', { quiet: on }, 'Setting KENNELS_QUIET is declared twice.'],
    ['a variable twice by itself', 'twice', { aB: on, a_b: on }, 'Setting "a_b" is not in camelCase.'],
    ['a name that is no variable', 'odd', { 'a b': on }, 'Setting "a b" is not in camelCase.'],
    [
      'a feature that is no name',
      'Odd Name',
      { on },
      'Settings of "Odd Name": the name of a feature consists of',
    ],
    [
      'a default out of range',
      'range',
      { size: { type: wholeNumber(1, 9), default: 10, description: '' } },
      'Setting RANGE_SIZE has a default that is not allowed: it must be a whole number from 1 to 9.',
    ],
  ])('%s', (_, feature, definitions, message) => {
    const declare = () => defineSettings(feature, definitions as Record<string, typeof on>);
    const before = declaredSettings();
    expect(declare).toThrow(message);
    expect(declaredSettings()).toEqual(before);
  });
});
