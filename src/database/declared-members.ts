import type { Type } from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';

/** A schema in `@ApiProperty()`, or nested in one. */
export interface DeclaredSchema {
  readonly name?: string;
  /** A class, an array of one, a function that returns either, the name of a JSON type, or an object of members. */
  readonly type?: unknown;
  readonly isArray?: boolean;
  readonly enum?: unknown;
  readonly required?: unknown;
  readonly selfRequired?: boolean;
  readonly nullable?: boolean;
  readonly $ref?: string;
  readonly items?: DeclaredSchema;
  readonly properties?: Readonly<Record<string, DeclaredSchema>>;
  readonly additionalProperties?: boolean | DeclaredSchema;
  readonly allOf?: readonly DeclaredSchema[];
  readonly anyOf?: readonly DeclaredSchema[];
  readonly oneOf?: readonly DeclaredSchema[];
  readonly discriminator?: {
    readonly propertyName: string;
    readonly mapping?: Readonly<Record<string, string>>;
  };
}

/** A member of the JSON objects that a class describes. */
export interface DeclaredMember {
  /** The property of the class. */
  readonly property: string;
  /** Its name in JSON: that of the property, unless `@ApiProperty({ name })` sets another. */
  readonly name: string;
  readonly schema: DeclaredSchema;
  readonly isRequired: boolean;
  /** Whether the schema allows null. */
  readonly isNullable: boolean;
  /** Whether the member is omitted instead of null. */
  readonly isOmittedWhenNull: boolean;
}

/** The property in which the compiler plugin of @nestjs/swagger stores its metadata. */
const FACTORY = '_OPENAPI_METADATA_FACTORY';

const cache = new WeakMap<Type, readonly DeclaredMember[]>();

/** The members that a DTO declares with `@ApiProperty()` or a decorator that includes it, in the order of its schema. */
export function declaredMembers(dto: Type): readonly DeclaredMember[] {
  let members = cache.get(dto);
  if (!members) cache.set(dto, (members = read(dto)));
  return members;
}

function read({ prototype }: Type): DeclaredMember[] {
  const target = prototype as object;
  // @nestjs/swagger prefixes each name with a colon.
  const marked = (Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES_ARRAY, target) ?? []) as string[];
  const fromPlugin = pluginSchemas(target);
  const properties = new Set([...marked.map((mark) => mark.slice(1)), ...Object.keys(fromPlugin)]);
  return [...properties].map((property) => {
    const decorated = Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES, target, property) as
      DeclaredSchema | undefined;
    return memberOf(property, { ...fromPlugin[property], ...decorated });
  });
}

/** A member with this schema. */
export function memberOf(property: string, schema: DeclaredSchema): DeclaredMember {
  const { name = property, required, selfRequired, anyOf, oneOf } = schema;
  // In the schema of an inline object, `required` lists members.
  const isRequired =
    selfRequired === undefined ? required !== false && !Array.isArray(required) : selfRequired;
  const isNullable = [schema, ...(anyOf ?? []), ...(oneOf ?? [])].some(
    ({ nullable, type }) => nullable === true || type === 'null',
  );
  // One of the alternatives may refer to a schema that allows null.
  const isOmittedWhenNull = !isRequired && !isNullable && !anyOf && !oneOf;
  return { property, name, schema, isRequired, isNullable, isOmittedWhenNull };
}

function pluginSchemas(prototype: object): Record<string, DeclaredSchema> {
  const parent = Object.getPrototypeOf(prototype) as object | null;
  const factory = Object.hasOwn(prototype.constructor, FACTORY)
    ? (Reflect.get(prototype.constructor, FACTORY) as () => Record<string, DeclaredSchema>)
    : undefined;
  return { ...(parent && parent !== Object.prototype ? pluginSchemas(parent) : {}), ...factory?.() };
}
