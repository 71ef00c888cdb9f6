import type { Type } from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';

/** What `@ApiProperty()` says of a member, or a schema within it says of a value. */
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
  /** What the member is called in JSON: as the property, unless `@ApiProperty({ name })` says otherwise. */
  readonly name: string;
  readonly schema: DeclaredSchema;
  readonly isRequired: boolean;
  /** Whether null is said to be a value of it. */
  readonly isNullable: boolean;
  /** Whether null is not a value of it, and it may be left out instead. */
  readonly isAbsentAsNull: boolean;
}

/** The property in which the compiler plugin of @nestjs/swagger keeps its metadata of a class. */
const FACTORY = '_OPENAPI_METADATA_FACTORY';

const known = new WeakMap<Type, readonly DeclaredMember[]>();

/** The members that a DTO declares by `@ApiProperty()` or a decorator that includes it, in the order of its schema. */
export function declaredMembers(dto: Type): readonly DeclaredMember[] {
  let members = known.get(dto);
  if (!members) known.set(dto, (members = read(dto)));
  return members;
}

function read({ prototype }: Type): DeclaredMember[] {
  const target = prototype as object;
  // @nestjs/swagger stores each name with a colon in front.
  const marked = (Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES_ARRAY, target) ?? []) as string[];
  const ofPlugin = pluginSchemas(target);
  const properties = new Set([...marked.map((mark) => mark.slice(1)), ...Object.keys(ofPlugin)]);
  return [...properties].map((property) => {
    const decorated = Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES, target, property) as
      DeclaredSchema | undefined;
    return memberOf(property, { ...ofPlugin[property], ...decorated });
  });
}

/** A member with this schema. */
export function memberOf(property: string, schema: DeclaredSchema): DeclaredMember {
  const { name = property, required, selfRequired, anyOf, oneOf } = schema;
  // Of an object that the schema itself describes, `required` names members.
  const isRequired =
    selfRequired === undefined ? required !== false && !Array.isArray(required) : selfRequired;
  const isNullable = [schema, ...(anyOf ?? []), ...(oneOf ?? [])].some(
    ({ nullable, type }) => nullable === true || type === 'null',
  );
  // One of several schemas may be a reference to one that allows null.
  const isAbsentAsNull = !isRequired && !isNullable && !anyOf && !oneOf;
  return { property, name, schema, isRequired, isNullable, isAbsentAsNull };
}

function pluginSchemas(prototype: object): Record<string, DeclaredSchema> {
  const parent = Object.getPrototypeOf(prototype) as object | null;
  const factory = Object.hasOwn(prototype.constructor, FACTORY)
    ? (Reflect.get(prototype.constructor, FACTORY) as () => Record<string, DeclaredSchema>)
    : undefined;
  return { ...(parent && parent !== Object.prototype ? pluginSchemas(parent) : {}), ...factory?.() };
}
