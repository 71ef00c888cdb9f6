import type { Type } from '@nestjs/common';
import { isLosslessNumber } from 'lossless-json';
import type { DeclaredMember } from '../../database/declared-members.js';
import { JsonText } from '../../database/json-rows.js';

/** Called with the name and class of each required member that is missing or has the wrong type. */
export type OnMissing = (member: string, owner: string) => void;

/** What a schema declares for a value. */
export interface Shape {
  /**
   * Reduces a value to its declared part; undefined if it has the wrong type. With `isText`, it was parsed from JSON, so its members have
   * their JSON names instead of property names.
   */
  show(value: unknown, onMissing: OnMissing, isText?: boolean): unknown;
  /** Whether a value matches the schema; additional members are allowed. */
  matches(value: unknown, isText?: boolean): boolean;
}

/** A member of an object, with the shape of its schema. */
export interface ShapedMember extends DeclaredMember {
  readonly shape: Shape;
}

type Members = Readonly<Record<string, unknown>>;

/** A schema that allows anything: values are unchanged. */
export const FREE: Shape = { show: (value) => value, matches: () => true };
/** A schema without a description: values are removed. */
export const UNKNOWN: Shape = { show: () => undefined, matches: () => false };

/** A scalar of one of these types, or an object that is serialized to one, such as a Date. */
export class ScalarShape implements Shape {
  constructor(
    private readonly kinds: readonly string[],
    private readonly values: readonly unknown[] | undefined,
  ) {}

  show(value: unknown, onMissing: OnMissing): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((element) => this.show(element, onMissing));
    return isObject(scalarOf(value)) ? undefined : value;
  }

  matches(value: unknown): boolean {
    const one = scalarOf(value);
    const kind = one === null ? 'null' : typeof one;
    return this.kinds.includes(kind) && (this.values?.includes(one) ?? true);
  }
}

/** An array; a single value is reduced like an element. */
export class ListShape implements Shape {
  constructor(private readonly items: Shape) {}

  show(value: unknown, onMissing: OnMissing, isText?: boolean): unknown {
    if (!Array.isArray(value)) return this.items.show(value, onMissing, isText);
    return value.map((element) => this.items.show(element, onMissing, isText));
  }

  matches(value: unknown, isText?: boolean): boolean {
    return Array.isArray(value) && value.every((element) => this.items.matches(element, isText));
  }
}

/** An object: its declared members in order, then additional ones if a schema is declared for them; or each object of an array. */
export class ObjectShape implements Shape {
  private read: readonly ShapedMember[] | undefined;

  constructor(
    private readonly owner: string,
    private readonly declared: () => readonly ShapedMember[],
    /** The class that describes it; undefined for an inline schema. */
    readonly dto: Type | undefined,
    private readonly others?: Shape,
  ) {}

  /** Lazy, because a class may reference itself. */
  private get members(): readonly ShapedMember[] {
    return (this.read ??= this.declared());
  }

  show(sent: unknown, onMissing: OnMissing, isText = false): unknown {
    if (sent === null || sent === undefined) return sent;
    // A class without declared members does not restrict the value.
    if (this.members.length === 0 && !this.others) return sent;
    const isOfText = isText || sent instanceof JsonText;
    // An instance of this class is already reduced.
    if (sent instanceof JsonText && this.dto && sent.dto === this.dto) return sent;
    const value = inJson(sent);
    if (Array.isArray(value)) return value.map((element) => this.show(element, onMissing, isOfText));
    if (!isObject(value)) return undefined;
    const shown: Record<string, unknown> = {};
    for (const { property, name, shape, isRequired, isNullable, isOmittedWhenNull } of this.members) {
      const member = value[isOfText ? name : property];
      if (member === null) {
        if (!isOmittedWhenNull) shown[name] = null;
      } else if (member !== undefined) {
        const part = shape.show(member, onMissing, isOfText);
        if (part === undefined) onMissing(name, this.owner);
        else shown[name] = part;
      } else if (isRequired) {
        if (isNullable) shown[name] = null;
        else onMissing(name, this.owner);
      }
    }
    if (this.others) this.showOthers(this.others, value, shown, onMissing, isOfText);
    return shown;
  }

  private showOthers(
    others: Shape,
    value: Members,
    shown: Record<string, unknown>,
    onMissing: OnMissing,
    isText: boolean,
  ): void {
    const named = new Set(this.members.map(({ property, name }) => (isText ? name : property)));
    for (const [name, member] of Object.entries(value)) {
      // Additional members have no declared names, so only their type distinguishes them from hidden members.
      if (named.has(name) || (others instanceof ScalarShape && !others.matches(member))) continue;
      const part = others.show(member, onMissing, isText);
      if (part !== undefined) shown[name] = part;
    }
  }

  matches(sent: unknown, isText = sent instanceof JsonText): boolean {
    const value = inJson(sent);
    if (!isObject(value) || Array.isArray(value)) return false;
    return this.members.every(({ property, name, shape, isRequired, isNullable }) => {
      const member = value[isText ? name : property];
      if (member === undefined || member === null) return !isRequired || isNullable;
      return shape.matches(member, isText);
    });
  }
}

/** How an object's member selects the schema: the values of the member, and the shape of each. */
export interface Discriminator {
  readonly member: string;
  readonly shapeOf: (value: string) => Shape | undefined;
}

/** A value of one of several schemas: selected by its discriminator or class, otherwise the first that matches. */
export class ChoiceShape implements Shape {
  constructor(
    private readonly choices: readonly Shape[],
    private readonly discriminator: Discriminator | undefined,
  ) {}

  show(value: unknown, onMissing: OnMissing, isText?: boolean): unknown {
    if (value === null) return null;
    const shape = this.shapeFor(value, isText);
    if (shape || !Array.isArray(value)) return shape?.show(value, onMissing, isText);
    return value.map((element) => this.show(element, onMissing, isText));
  }

  matches(value: unknown, isText?: boolean): boolean {
    return this.shapeFor(value, isText) !== undefined;
  }

  private shapeFor(sent: unknown, isText?: boolean): Shape | undefined {
    const { discriminator, choices } = this;
    const value = inJson(sent);
    if (discriminator && isObject(value) && !Array.isArray(value))
      return discriminator.shapeOf(String(value[discriminator.member]));
    const isOfClass = (one: Shape): boolean =>
      one instanceof ObjectShape && isObject(sent) && one.dto === sent.constructor;
    return choices.find(isOfClass) ?? choices.find((one) => one.matches(sent, isText));
  }
}

/** A value that matches all of these schemas. */
export class WholeShape implements Shape {
  constructor(private readonly parts: readonly Shape[]) {}

  show(value: unknown, onMissing: OnMissing, isText?: boolean): unknown {
    if (Array.isArray(value)) return value.map((element) => this.show(element, onMissing, isText));
    // A schema that allows anything, such as one with only a description, adds nothing to the others.
    const declared = this.parts.filter((part) => part !== FREE);
    const parts = declared.length === 0 ? this.parts : declared;
    const shown = parts.map((part) => inJson(part.show(value, onMissing, isText)));
    const other = shown.findIndex((part) => !isObject(part));
    return other === -1 ? Object.assign({}, ...shown) : shown[other];
  }

  matches(value: unknown, isText?: boolean): boolean {
    return this.parts.every((part) => part.matches(value, isText));
  }
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}

/** Applies `toJSON`, like JSON.stringify. */
function inJson(value: unknown): unknown {
  return isObject(value) && typeof value['toJSON'] === 'function' ? (value['toJSON']() as unknown) : value;
}

/** The scalar that an object is serialized to; otherwise the value itself. */
function scalarOf(value: unknown): unknown {
  const json = inJson(value);
  return isLosslessNumber(json) ? Number(json.toString()) : json;
}
