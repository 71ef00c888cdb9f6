import { InvalidArgumentError } from 'commander';
import { PLATFORM_EXPORTS } from './imports.js';
import { FIELD_KINDS, type FieldKind, enumeration } from './field-kinds.js';

/** The operations that a feature may have, in the order of its controller. */
export const OPERATIONS = ['list', 'create', 'get', 'update', 'delete'] as const;

/** One of the operations of a feature. */
export type FeatureOperation = (typeof OPERATIONS)[number];

/** A field of a feature. */
export interface PlannedField extends FieldKind {
  /** Name of the property and of the JSON member, such as `petId`. */
  readonly property: string;
  /** Name of the column, such as `pet_id`. */
  readonly columnName: string;
  /** May be left out, and is null then. */
  readonly isOptional: boolean;
  /** What creating gives it, of a field that is not sent then: the first state. */
  readonly initial?: string;
}

/** What is generated: a feature, its fields and operations, and its names in every form. */
export interface FeaturePlan {
  /** Folder, path and scopes, such as `pet-toys`. */
  readonly feature: string;
  /** One of them, as in the name of the entity's file: `pet-toy`. */
  readonly singular: string;
  /** One of them, in words and as a property: `pet toy`, `petToy`. */
  readonly words: string;
  readonly one: string;
  /** Many of them, in words and as a property: `pet toys`, `petToys`. */
  readonly manyWords: string;
  readonly many: string;
  /** Classes of the entity and of the rest, such as `PetToy` and `PetToys`. */
  readonly entity: string;
  readonly plural: string;
  /** The table, and what constants and errors begin with, such as `pet_toys`, `PET_TOYS` and `pet_toy`. */
  readonly table: string;
  readonly constant: string;
  readonly error: string;
  readonly fields: readonly PlannedField[];
  /** The fields without the state, which is not sent when a row is created. */
  readonly sent: readonly PlannedField[];
  /** The field that goes through states; creating gives it the first. */
  readonly state: PlannedField | undefined;
  readonly operations: ReadonlySet<FeatureOperation>;
}

/** Names that the generated files import. */
const TAKEN = new Set(
  Object.values(PLATFORM_EXPORTS)
    .flat()
    .map((name) => name.replace('type ', '')),
);

const FEATURE = /^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$/;
const PROPERTY = /^[a-z][a-zA-Z0-9]*$/;
const LONGEST_NAME = 40;
/** Words that cannot name a parameter or a variable of TypeScript in strict mode. */
const RESERVED = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for ' +
    'function if implements import in instanceof interface let new null package private protected public return static super switch ' +
    'this throw true try typeof var void while with yield'
  ).split(' '),
);
/** What the code of a feature calls its own: a feature of this name would hide it. */
const OWN_NAMES = new Set(
  (
    'rows row events references dataSource page pager query patch precondition id fields state service add all created fetched ' +
    'changed late blind body json path headers status found refused become again method index count manager'
  ).split(' '),
);
const FIELD = /^(?<property>\w+):(?<kind>[a-z0-9]+)(?::(?<argument>[^?]*))?(?<optional>\?)?$/;

/** A field as `--field` has it: `name:kind`, `name:kind:argument`, with `?` at the end when it is optional. */
export function parseField(text: string): PlannedField {
  const { property = '', kind = '', argument = '', optional } = FIELD.exec(text)?.groups ?? {};
  const reader = FIELD_KINDS[kind];
  if (!PROPERTY.test(property) || !reader) {
    const kinds = Object.values(FIELD_KINDS).map(({ form }) => form);
    throw new InvalidArgumentError(
      `Give a name in camelCase, a colon and a kind: ${kinds.join('; ')}; and ? at the end when it is optional.`,
    );
  }
  const found = reader.read(argument, property);
  if (!found) throw new InvalidArgumentError(`Write ${property} as ${property}:${reader.form}.`);
  return { ...found, property, columnName: snakeCase(property), isOptional: optional !== undefined };
}

/** The field `state`, as `--state` has it: its values in their order, the first of which it begins with. */
export function parseState(text: string): PlannedField {
  const found = enumeration(text.split(','));
  const initial = found?.values?.[0];
  if (!found || initial === undefined)
    throw new InvalidArgumentError('Give two states or more in lower case, separated by commas.');
  return { ...found, property: 'state', columnName: 'state', isOptional: false, initial };
}

/** The operations, as `--ops` has them. */
export function parseOperations(text: string): Set<FeatureOperation> {
  const named = text.split(',');
  const found = OPERATIONS.filter((one) => named.includes(one));
  if (found.length === 0 || found.length < named.length)
    throw new InvalidArgumentError(`Give some of ${OPERATIONS.join(',')}, separated by commas.`);
  return new Set(found);
}

/** The plan of a feature. Throws InvalidArgumentError for a name that it cannot have, and for fields that clash. */
export function planFeature(
  feature: string,
  fields: readonly PlannedField[],
  operations: ReadonlySet<FeatureOperation>,
  singular = singularOf(feature),
): FeaturePlan {
  if (!FEATURE.test(feature) || !FEATURE.test(singular) || singular === feature)
    throw new InvalidArgumentError(
      'Name the feature in the plural, in lower case with hyphens, such as pet-toys. Where the singular is not the plural ' +
        'without its s, give it by --singular; it must be another word.',
    );
  const table = feature.replaceAll('-', '_');
  const taken = [pascalCase(singular), pascalCase(feature)].find(
    (name) => TAKEN.has(name) || name in globalThis,
  );
  const hidden =
    taken ??
    [camelCase(singular), camelCase(feature)].find((name) => RESERVED.has(name) || OWN_NAMES.has(name));
  if (hidden !== undefined)
    throw new InvalidArgumentError(
      `${hidden} has a meaning of its own in the code. Choose another name, or give another --singular.`,
    );
  if (feature.length > LONGEST_NAME)
    throw new InvalidArgumentError(`Give the feature a name of at most ${LONGEST_NAME} characters.`);
  const names = ['id', ...fields.map(({ property }) => property)];
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined)
    throw new InvalidArgumentError(
      twice === 'id' ? 'Leave out id: every feature has one.' : `The field ${twice} is there already.`,
    );
  const odd = fields.find(({ property }) => property in {} || property === 'then' || RESERVED.has(property));
  if (odd) throw new InvalidArgumentError(`A field cannot be called ${odd.property}. Choose another name.`);
  const hiding = fields.find(
    ({ property, isOptional }) => isOptional && (property === 'row' || property === camelCase(singular)),
  );
  if (hiding)
    throw new InvalidArgumentError(
      `An optional field cannot be called ${hiding.property}. Choose another name.`,
    );
  const own = fields.find(({ references, isOptional }) => references === table && !isOptional);
  if (own)
    throw new InvalidArgumentError(
      `${own.property} refers to its own table: the first row could not. End it with ?.`,
    );
  const sent = fields.filter(({ initial }) => initial === undefined);
  if (sent.length === 0) throw new InvalidArgumentError('Give at least one --field.');
  return {
    feature,
    singular,
    words: singular.replaceAll('-', ' '),
    one: camelCase(singular),
    manyWords: feature.replaceAll('-', ' '),
    many: camelCase(feature),
    entity: pascalCase(singular),
    plural: pascalCase(feature),
    table,
    constant: feature.replaceAll('-', '_').toUpperCase(),
    error: singular.replaceAll('-', '_'),
    fields,
    sent,
    state: fields.find(({ initial }) => initial !== undefined),
    operations,
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

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function snakeCase(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
