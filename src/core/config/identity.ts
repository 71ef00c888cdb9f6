import type { SettingType } from './setting.js';

/** The `contact` of the OpenAPI documents. */
export interface Contact {
  readonly name: string;
  readonly email?: string;
  readonly url?: string;
}

/** A single line of text of at most this length. */
export function line(maxLength: number): SettingType<string> {
  return {
    mustBe: `one line of at most ${maxLength} characters`,
    parse: (text) => (text.length <= maxLength && !/\p{Cc}/u.test(text) ? text : undefined),
  };
}

/** A name, followed by an email address or URL in angle brackets. */
export const contact: SettingType<Contact> = {
  mustBe:
    'a name, optionally with an email address or a URL in angle brackets, such as API team <api@shop.example>',
  parse(text) {
    const [, name = '', address] = /^([^<>\p{Cc}]{1,100}?)(?: <([^<>\s]+)>)?$/u.exec(text) ?? [];
    if (name === '') return undefined;
    if (address === undefined) return { name };
    if (/^[^@:/]+@[^@:/]+$/.test(address)) return { name, email: address };
    return /^https?:\/\//.test(address) && URL.canParse(address) ? { name, url: address } : undefined;
  },
  format: ({ name, email, url }) => [name, ...[email ?? url ?? []].flat().map((one) => `<${one}>`)].join(' '),
};

/** A realm (RFC 9110 section 11.5) that needs no escapes. */
export const realm: SettingType<string> = {
  mustBe: 'at most 100 visible ASCII characters and spaces, without " and \\',
  parse: (text) => (/^[ !#-[\]-~]{1,100}$/.test(text) ? text : undefined),
};

/** The prefix of API keys. */
export const keyPrefix: SettingType<string> = {
  mustBe: '2 to 10 lower-case letters and digits, beginning with a letter',
  parse: (text) => (/^[a-z][a-z0-9]{1,9}$/.test(text) ? text : undefined),
};
