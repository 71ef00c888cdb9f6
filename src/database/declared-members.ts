import type { Type } from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';

/** A member of the JSON objects that a class describes. */
export interface DeclaredMember {
  /** The property of the class. */
  readonly property: string;
  /** What the member is called in JSON: as the property, unless `@ApiProperty({ name })` says otherwise. */
  readonly name: string;
  /** The class of an object or of an array's elements; undefined for anything else. */
  readonly type: Type | undefined;
  readonly isRequired: boolean;
  /** Whether null is not a value of it, and it may be left out instead. */
  readonly isAbsentAsNull: boolean;
}

/** The metadata of @nestjs/swagger for a property. */
interface Options {
  readonly name?: string;
  readonly type?: unknown;
  readonly required?: unknown;
  readonly selfRequired?: boolean;
  readonly nullable?: boolean;
  readonly anyOf?: unknown;
  readonly oneOf?: unknown;
}

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
  return marked.map((mark) => {
    const property = mark.slice(1);
    const options: Options =
      (Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES, target, property) as Options | undefined) ?? {};
    const { name = property, type, required, selfRequired, nullable, anyOf, oneOf } = options;
    const isRequired = required !== false && selfRequired !== false;
    // One of several schemas may allow null.
    const isAbsentAsNull = !isRequired && nullable !== true && type !== 'null' && !anyOf && !oneOf;
    return { property, name, type: classIn(type), isRequired, isAbsentAsNull };
  });
}

/** @nestjs/swagger accepts a class, an array of one, a function that returns either, or the name of a JSON type. */
function classIn(type: unknown): Type | undefined {
  if (Array.isArray(type)) return classIn(type[0]);
  if (typeof type !== 'function') return undefined;
  // Such a function is recognized as @nestjs/swagger does it.
  return type.name === 'type' ? classIn((type as () => unknown)()) : (type as Type);
}
