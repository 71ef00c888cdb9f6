/** Where a JSON value holds integers of 64 bits, by the OpenAPI document: itself, or the values in it. */
export type Shape =
  | 'int64'
  | {
      /** Name of a schema that has the shape. */
      readonly schema?: string;
      /** Of the entries of an array. */
      readonly items?: Shape;
      /** Of the members of an object, by their names. */
      readonly fields?: Readonly<Record<string, Shape>>;
      /** Of its other members. */
      readonly others?: Shape;
      /** All of these at once. */
      readonly all?: readonly Shape[];
    };

/** Shapes by the names of their schemas. */
export type Shapes = Readonly<Record<string, Shape>>;

/** Whether a value of a shape is itself an integer of 64 bits. */
export function isInt64(shape: Shape | undefined, shapes: Shapes): boolean {
  if (shape === undefined || shape === 'int64') return shape !== undefined;
  if (shape.schema !== undefined && isInt64(own(shapes, shape.schema), shapes)) return true;
  return shape.all?.some((one) => isInt64(one, shapes)) ?? false;
}

/** What a value of a shape is, if it is not null; undefined where it may be one of several, and for none. */
export function kindOf(shape: Shape | undefined, shapes: Shapes): 'int64' | 'array' | 'object' | undefined {
  if (shape === undefined || shape === 'int64') return shape;
  if (shape.all !== undefined) return undefined;
  if (shape.items !== undefined) return 'array';
  if (shape.fields !== undefined || shape.others !== undefined) return 'object';
  return shape.schema === undefined ? undefined : kindOf(own(shapes, shape.schema), shapes);
}

/** The shape of the entries of an array; undefined where they hold none. */
export function shapeOfItems(shape: Shape | undefined, shapes: Shapes): Shape | undefined {
  return inside(shape, shapes, (one) => one.items);
}

/** The shape of a member of an object; undefined where it holds none. */
export function shapeOfField(shape: Shape | undefined, name: string, shapes: Shapes): Shape | undefined {
  return inside(shape, shapes, (one) => own(one.fields ?? {}, name) ?? one.others);
}

type Composite = Exclude<Shape, string>;

function inside(
  shape: Shape | undefined,
  shapes: Shapes,
  pick: (shape: Composite) => Shape | undefined,
): Shape | undefined {
  if (shape === undefined || shape === 'int64') return undefined;
  const parts = [...(shape.all ?? []), ...(shape.schema === undefined ? [] : [own(shapes, shape.schema)])];
  const found = [pick(shape), ...parts.map((part) => inside(part, shapes, pick))].filter(
    (one) => one !== undefined,
  );
  return found.length > 1 ? { all: found } : found[0];
}

/** A member that is its own: a name such as `constructor` finds nothing. */
function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
