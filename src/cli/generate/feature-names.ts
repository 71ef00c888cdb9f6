import { InvalidArgumentError } from 'commander';
import { MAX_IDENTIFIER_BYTES, isTooLong } from '../../database/identifiers.js';
import type { Field } from './feature-fields.js';

const FEATURE = /^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$/;
/** The names of indexes start with it. */
const LONGEST_NAME = 40;

/** The names of a feature and its fields, as used by the templates (schematics/feature). Throws InvalidArgumentError if they clash. */
export function featureNames(name: string, fields: readonly Field[], singular = singularOf(name)) {
  if (!FEATURE.test(name) || !FEATURE.test(singular) || singular === name || name.length > LONGEST_NAME)
    throw new InvalidArgumentError(
      `Name the feature in the plural, in lower case with hyphens and at most ${LONGEST_NAME} characters, such as pet-toys. ` +
        'If the singular is not the plural without its s, give it with --singular; it must differ from the plural.',
    );
  const names = ['id', ...fields.map(({ property }) => property)];
  const twice = names.find((one, at) => names.indexOf(one) < at);
  if (twice === 'id') throw new InvalidArgumentError('Omit id: every feature has one.');
  if (twice !== undefined) throw new InvalidArgumentError(`The field ${twice} is given twice.`);
  const table = snakeCase(name);
  const own = fields.find(({ references, isOptional }) => references === table && !isOptional);
  if (own)
    throw new InvalidArgumentError(
      `${own.property} references its own table, so the first row could not be added. Make it optional with a ? at the end.`,
    );
  const [first] = fields;
  if (!first) throw new InvalidArgumentError('Give at least one --field.');
  // The longest name of an index or constraint in the templates.
  const long = fields.find(({ property }) => isTooLong(`${table}_${snakeCase(property)}_allowed`));
  if (long)
    throw new InvalidArgumentError(
      `The names of indexes and constraints of ${long.property} would be longer than the ${MAX_IDENTIFIER_BYTES} bytes of PostgreSQL: ` +
        'choose a shorter name for the field or the feature.',
    );
  const [entity, phrase, error] = [pascalCase(singular), singular.replaceAll('-', ' '), snakeCase(singular)];
  const named = fields.map((field) => ({ ...field, ...fieldNames(field, entity) }));
  return {
    /** For folder, path and scopes, such as `pet-toys`, and its singular, such as for the entity's file. */
    name,
    singular,
    /** `pet toys`, `pet toy`, `a pet toy`. */
    manyWords: name.replaceAll('-', ' '),
    words: phrase,
    aOne: `${/^[aeiou]/.test(phrase) ? 'an' : 'a'} ${phrase}`,
    /** `PetToys`, `PetToy`, `petToy`. */
    plural: pascalCase(name),
    entity,
    one: `${entity.charAt(0).toLowerCase()}${entity.slice(1)}`,
    /** `pet_toys`, `PET_TOYS`, `pet_toy`, `PET_TOY`. */
    table,
    constant: table.toUpperCase(),
    error,
    constantOfOne: error.toUpperCase(),
    fields: named,
    enums: named.filter(({ values }) => values !== undefined),
    references: named.filter(({ references }) => references !== undefined),
    decorators: fields.map(({ decorator }) => decorator),
    /** Filters of the list, which need an index. */
    filters: named.filter(({ values, references }) => values ?? references),
    /** The field that the test suite changes. */
    changed: fields.find(({ references }) => references === undefined) ?? first,
    capitalize,
  };
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function fieldNames({ property, type, values, references, options }: Field, entity: string) {
  const columnName = snakeCase(property);
  const words = columnName.replaceAll('_', ' ');
  const described =
    references === undefined ? capitalize(words) : `The id of the ${words.replace(/ id$/, '')}`;
  const named = { columnName, words, isInt64: type === 'bigint', description: described };
  if (values === undefined) return named;
  const enumName = entity + pascalCase(property);
  const valuesName = `${snakeCase(enumName).slice(1).toUpperCase()}_VALUES`;
  return {
    ...named,
    type: enumName,
    valuesName,
    options: `enumName: '${enumName}', values: ${valuesName}${options}`,
    check: `"${columnName}" IN (${values.map((value) => `'${value}'`).join(', ')})`,
  };
}

/** The singular of the last word, by the common rules of English. */
function singularOf(plural: string): string {
  if (/[^aeiou]ies$/.test(plural)) return `${plural.slice(0, -3)}y`;
  if (/(?:s|x|z|ch|sh)es$/.test(plural)) return plural.slice(0, -2);
  return plural.replace(/([^s])s$/, '$1');
}

/** `pet-toys` as `PetToys`. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `petId` and `pet-id` as `pet_id`. */
function snakeCase(name: string): string {
  return name.replaceAll('-', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
