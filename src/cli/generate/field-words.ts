// What the OpenAPI document says of a generated field, by its name and kind: a sentence and examples that are right as they stand,
// until somebody who knows the subject writes better ones.

/** What the name of a field says besides the word itself: `priceCents` is the price, in cents. */
const UNITS = new Map<string, string>([
  ['cents', 'cents'],
  ['ms', 'milliseconds'],
  ['seconds', 'seconds'],
  ['minutes', 'minutes'],
  ['hours', 'hours'],
  ['days', 'days'],
  ['grams', 'grams'],
  ['kg', 'kilograms'],
  ['cm', 'centimetres'],
  ['percent', 'per cent'],
]);

/** Participles of instants, such as `boughtAt`, beside those that end in `ed`. */
const PARTICIPLES = new Set(
  'bought sold sent paid made born begun done given taken found left lost'.split(' '),
);

/** Who has a name or an address of their own: adopter, vendor, employee. Not every word that ends so is a person. */
const PERSON = /(?:er|or|ee|ian|ist)$/;
const NO_PERSON = new Set(
  'other former inner outer upper lower under over after super order number colour'.split(' '),
);
const OF_PERSONS = new Set(['name', 'email', 'phone', 'address']);

/** Two values of texts, by the last word of their name; the first is the example. */
const TEXTS = new Map<string, readonly [string, string]>([
  ['email', ['ada@example.org', 'grace@example.org']],
  ['phone', ['+44 20 7946 0018', '+44 20 7946 0123']],
  ['address', ['12 Example Street, London', '7 Example Square, Leeds']],
  ['city', ['London', 'Leeds']],
  ['country', ['GB', 'FR']],
  ['url', ['https://example.org/1', 'https://example.org/2']],
]);
const PERSONS = ['Ada Lovelace', 'Grace Hopper'] as const;

/** The words of a property: `adopterName` as adopter, name. */
export function wordsOf(property: string): string[] {
  return property.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ');
}

/** The description of a field of `thing`, such as `pet toy`: "The name of the adopter", "When it was bought". */
export function descriptionOf(
  property: string,
  thing: string,
  kind: { readonly decorator: string; readonly references?: string },
): string {
  const words = wordsOf(property);
  const last = words.at(-1) ?? '';
  const before = words.slice(0, -1).join(' ');
  if (kind.references !== undefined)
    return `The id of the ${last === 'id' && before !== '' ? before : words.join(' ')}`;
  if (kind.decorator === 'Instant' && last === 'at' && before !== '') {
    if (before.endsWith('ed') || PARTICIPLES.has(before)) return `When it was ${before}`;
    return before.endsWith('s') ? `When it ${before}` : `When the ${before} is`;
  }
  const unit = UNITS.get(last);
  if (unit !== undefined && before !== '') return `The ${before} of the ${thing}, in ${unit}`;
  return isOfPerson(words) ? `The ${last} of the ${before}` : `The ${words.join(' ')} of the ${thing}`;
}

/** Two different texts for a field, of at most this length. */
export function sampleTexts(property: string, length: number): readonly [string, string] {
  const words = wordsOf(property);
  const last = words.at(-1) ?? '';
  const text = words.join(' ');
  const article = /^[aeiou]/.test(text) ? 'An' : 'A';
  const known =
    last === 'name' && isOfPerson(words)
      ? PERSONS
      : (TEXTS.get(last) ?? ([`${article} ${text}`, `Another ${text}`] as const));
  return known.every((sample) => sample.length <= length) ? known : ['a', 'b'];
}

function isOfPerson(words: readonly string[]): boolean {
  const [person = '', last = ''] = words;
  return words.length === 2 && OF_PERSONS.has(last) && PERSON.test(person) && !NO_PERSON.has(person);
}
