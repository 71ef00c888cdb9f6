import {
  type ArgumentMetadata,
  ValidationPipe as NestValidationPipe,
  type ValidationPipeOptions,
} from '@nestjs/common';
import * as classValidator from 'class-validator';
import { JsonDecimal } from '../body/exact-json.js';
import { isDto } from './declared-fields.js';
import { isPlainObject, plainToInstance, withoutUnreadable } from './plain-to-instance.js';

/**
 * Replaces every JsonDecimal by a plain number, in place: in arrays, in objects, and in instances that class-transformer
 * made of them. Returns the value.
 */
export function plainNumbers(value: unknown): unknown {
  if (value instanceof JsonDecimal) return value.valueOf();
  if (typeof value !== 'object' || value === null) return value;
  const pending: object[] = [value];
  // A transformation of an added module may have made a circular structure.
  let seen: Set<object> | undefined;
  for (let holder = pending.pop(); holder; holder = pending.pop()) {
    if (ArrayBuffer.isView(holder)) continue;
    for (const name of Object.keys(holder)) {
      const member = (holder as Readonly<Record<string, unknown>>)[name];
      if (typeof member !== 'object' || member === null) continue;
      if (member instanceof JsonDecimal) {
        (holder as Record<string, unknown>)[name] = member.valueOf();
        continue;
      }
      seen ??= new Set([value]);
      if (!seen.has(member)) pending.push(member);
      seen.add(member);
    }
  }
  return value;
}

/** Names that Nest removes from what a client sends. */
const REMOVED = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Nest's own pipe, but for objects of a class with rules: what no rule asks for is not walked through (plain-to-instance.ts), so that
 * its time is linear in what was sent.
 */
export class LinearPipe extends NestValidationPipe {
  constructor(options: ValidationPipeOptions) {
    // Nest would load it with the first value that it validates itself, and look for bytes from then on.
    super({ ...options, validatorPackage: classValidator });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const object = this.instanceOf(value, metadata);
    if (!object) return super.transform(value, metadata);
    const bytes = this.findNestedBinaryValues(object);
    if (bytes.length > 0) throw await this.exceptionFactory(bytes);
    // Of the same instance: a transformation may do more than transform, and a promise of it must not be lost.
    const options = { ...this.validatorOptions, validationError: { target: false } };
    const errors = await classValidator.validate(object, options);
    if (errors.length > 0) throw await this.exceptionFactory(errors);
    return object;
  }

  /** What the rules are asked of, after class-transformer. */
  protected prepare(object: object): void {
    // As it is.
    void object;
  }

  /** An object as its class, before the rules; undefined where Nest must look at it. */
  private instanceOf(value: unknown, { type, metatype }: ArgumentMetadata): object | undefined {
    if (type === 'custom' || !metatype || !isDto(metatype) || !isPlainObject(value)) return undefined;
    const plain = isFlat(value) ? value : withoutUnreadable(metatype, value);
    if (!isFlat(plain)) {
      this.closeArrayGaps(plain);
      this.stripProtoKeys(plain);
    }
    const object = plainToInstance(metatype, plain, this.transformOptions);
    if (typeof object !== 'object' || object === null || object.constructor !== metatype) return undefined;
    this.prepare(object);
    return object;
  }
}

/** Replaces decimals by numbers after class-transformer, which has read integers, and before the rules. */
export class PlainNumbersPipe extends LinearPipe {
  protected override prepare(object: object): void {
    plainNumbers(object);
  }
}

/** Whether nothing is to be looked for in it: its values are no objects. */
function isFlat(value: object): boolean {
  for (const name of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if ((typeof member === 'object' && member !== null) || typeof member === 'function') return false;
    if (REMOVED.has(name)) return false;
  }
  return true;
}
