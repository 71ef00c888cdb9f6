import type { Type } from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';
import { type DeclaredSchema, declaredMembers, memberOf } from '../../database/declared-members.js';
import {
  ChoiceShape,
  type Discriminator,
  FREE,
  ListShape,
  ObjectShape,
  ScalarShape,
  type Shape,
  type ShapedMember,
  UNKNOWN,
  WholeShape,
} from './shapes.js';

/** The run-time types of JSON's scalar types and of the classes that @nestjs/swagger maps to them. */
const SCALARS = new Map<unknown, readonly string[]>([
  [String, ['string']],
  ['string', ['string']],
  [Date, ['string']],
  [Number, ['number', 'bigint']],
  ['number', ['number', 'bigint']],
  ['integer', ['number', 'bigint']],
  [BigInt, ['number', 'bigint']],
  [Boolean, ['boolean']],
  ['boolean', ['boolean']],
  ['null', ['null']],
]);
/** For an enumeration without a type. */
const ANY_SCALAR = [...SCALARS.values()].flat();
/** Classes that have no schema. */
const UNDESCRIBED = new Set<unknown>([Object, Buffer, Map, Set]);

const shapes = new WeakMap<Type, ObjectShape>();
/** Classes that references may mean, by schema name; undefined if two classes share a name. */
const models = new Map<string, Type | undefined>();

/** The members that a DTO declares for an object, or for each object of an array. */
export function shapeOf(dto: Type): Shape {
  let shape = shapes.get(dto);
  if (!shape) {
    const members = (): ShapedMember[] =>
      declaredMembers(dto).map((one) => ({ ...one, shape: shapeIn(one.schema, dto) }));
    shapes.set(dto, (shape = new ObjectShape(dto.name, members, dto)));
  }
  return shape;
}

/** The declared part of a value, for a message. */
export function shownAs(dto: Type, value: object): object {
  return shapeOf(dto).show(value, () => undefined) ?? {};
}

/** Registers classes that schemas may reference by name: a response's DTO, and those of `@ApiExtraModels()` on its handler. */
export function knowModels(dto: Type | undefined, ...targets: readonly object[]): void {
  for (const model of [...(dto ? [dto] : []), ...targets.flatMap((target) => extraModelsOf(target))]) {
    const name = schemaName(model);
    models.set(name, models.has(name) && models.get(name) !== model ? undefined : model);
  }
}

/** The classes of a class's members, or of one. */
export function classesIn(owner: Type, property?: string): Type[] {
  const within = (schema: DeclaredSchema): Type[] => {
    const [type] = typeIn(schema.type);
    const { $ref, items, properties = {}, additionalProperties, allOf = [], anyOf = [], oneOf = [] } = schema;
    const model = $ref === undefined ? type : modelOf($ref, owner);
    const others = typeof additionalProperties === 'object' ? [additionalProperties] : [];
    const parts = [
      ...(items ? [items] : []),
      ...Object.values(properties),
      ...others,
      ...allOf,
      ...anyOf,
      ...oneOf,
    ];
    const isClass =
      typeof model === 'function' && model !== Array && !SCALARS.has(model) && !UNDESCRIBED.has(model);
    return [...(isClass ? [model as Type] : []), ...parts.flatMap(within)];
  };
  return declaredMembers(owner)
    .filter((member) => property === undefined || member.property === property)
    .flatMap(({ schema }) => within(schema));
}

function extraModelsOf(target: object): readonly Type[] {
  return (Reflect.getMetadata(DECORATORS.API_EXTRA_MODELS, target) ?? []) as Type[];
}

/** The schema name of a class: its own, unless set by `@ApiSchema()`. */
export function schemaName(model: Type): string {
  const known = (Reflect.getOwnMetadata(DECORATORS.API_SCHEMA, model) ?? []) as { readonly name?: string }[];
  return known.at(-1)?.name ?? model.name;
}

/** The shape declared by a schema within a class, interpreted like @nestjs/swagger. */
function shapeIn(schema: DeclaredSchema, owner: Type): Shape {
  const [type, isListed] = typeIn(schema.type);
  if (isListed) return new ListShape(shapeIn({ ...schema, type, isArray: false }, owner));
  const { $ref, isArray, items, allOf = [], properties, additionalProperties, discriminator } = schema;
  const isList = isArray === true || type === 'array' || type === Array;
  const listed = (shape: Shape): Shape => (isList ? new ListShape(shape) : shape);
  if ($ref !== undefined) return listed(shapeOfRef($ref, owner));
  const whole = allOf.map((part) => shapeIn(part, owner));
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices)
    whole.push(
      new ChoiceShape(
        choices.map((one) => shapeIn(one, owner)),
        discriminator && discriminatorIn(discriminator, choices, owner),
      ),
    );
  if (whole[0]) return listed(whole.length === 1 ? whole[0] : new WholeShape(whole));
  if (items) return new ListShape(shapeIn(items, owner));
  const literal = properties ?? (typeof type === 'object' && type !== null ? { ...type } : undefined);
  if (literal || additionalProperties !== undefined)
    return listed(objectIn(literal ?? {}, schema.required, additionalProperties ?? false, owner));
  // An array without a description of its elements is documented as an array of strings.
  const kinds = SCALARS.get(isList && (type === 'array' || type === Array) ? String : type);
  if (schema.enum !== undefined) return listed(new ScalarShape(kinds ?? ANY_SCALAR, valuesOf(schema.enum)));
  if (kinds) return listed(new ScalarShape(kinds, undefined));
  if (typeof type === 'function' && !UNDESCRIBED.has(type)) return listed(shapeOf(type as Type));
  return typeof type === 'string' && type !== 'object' ? UNKNOWN : FREE;
}

/** An object whose members are declared inline. */
function objectIn(
  properties: Readonly<Record<string, DeclaredSchema>>,
  required: unknown,
  others: boolean | DeclaredSchema,
  owner: Type,
): Shape {
  const names = Object.keys(properties);
  if (others === true && names.length === 0) return FREE;
  const ofOthers = others === true ? FREE : others === false ? undefined : shapeIn(others, owner);
  const members = (): ShapedMember[] =>
    names.map((name) => {
      const schema = properties[name] ?? {};
      const selfRequired = Array.isArray(required) && required.includes(name);
      return { ...memberOf(name, { ...schema, name, selfRequired }), shape: shapeIn(schema, owner) };
    });
  return new ObjectShape(owner.name, members, undefined, ofOthers ?? UNKNOWN);
}

/** @nestjs/swagger accepts a class, an array of one, a function that returns either, or the name of a JSON type. */
function typeIn(type: unknown): [type: unknown, isListed: boolean] {
  // @nestjs/swagger recognizes such a function in the same way.
  if (typeof type === 'function' && type.name === 'type') return typeIn((type as () => unknown)());
  return Array.isArray(type) ? [type[0] as unknown, true] : [type, false];
}

function discriminatorIn(
  { propertyName, mapping = {} }: NonNullable<DeclaredSchema['discriminator']>,
  choices: readonly DeclaredSchema[],
  owner: Type,
): Discriminator {
  const named = new Set(choices.flatMap(({ $ref }) => ($ref === undefined ? [] : [nameIn($ref)])));
  return {
    member: propertyName,
    // Without a mapping, the value is the name of a schema.
    shapeOf: (value) => {
      const name = nameIn(Object.hasOwn(mapping, value) ? (mapping[value] ?? value) : value);
      return named.has(name) ? shapeOfRef(name, owner) : undefined;
    },
  };
}

function shapeOfRef($ref: string, owner: Type): Shape {
  const model = modelOf($ref, owner);
  return model ? shapeOf(model) : UNKNOWN;
}

function modelOf($ref: string, owner: Type): Type | undefined {
  const name = nameIn($ref);
  return [owner, ...extraModelsOf(owner)].find((one) => schemaName(one) === name) ?? models.get(name);
}

function nameIn($ref: string): string {
  return $ref.split('/').at(-1) ?? '';
}

/** The values of an enumeration in `@ApiProperty()`: a list, an object, or a function that returns one. */
function valuesOf(known: unknown): readonly unknown[] {
  const values: unknown = typeof known === 'function' ? (known as () => unknown)() : known;
  return Array.isArray(values) ? values : Object.values(values as object);
}
