import { ApiProperty } from '@nestjs/swagger';
import { IsEmail } from 'class-validator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../core/errors/api-error.js';
import { Rule } from './define-field.js';
import { Enum, Flag, Int64, Text } from './fields.js';
import { MergePatch } from './merge-patch.js';
import { ValidationPipe } from './validation.pipe.js';

class NewToy {
  @Text({ maxLength: 10 })
  @Rule('not_a_secret', 'This must not be a secret.', (value) => value !== 'secret')
  name!: string;

  @Int64()
  priceCents!: bigint;

  @Text({ maxLength: 10, nullable: true })
  colour!: string | null;

  @Text({ maxLength: 10, optional: true })
  note?: string;

  @Enum({ enumName: 'Size', values: ['small', 'large'], default: 'small' })
  size!: 'small' | 'large';

  @Flag({ nullable: true, default: true })
  isNew!: boolean | null;

  @ApiProperty()
  @IsEmail()
  maker!: string;

  /** What an initializer sets belongs to the resource, not to a patch. */
  @Text({ maxLength: 10, optional: true })
  origin = 'here';
}

class ToyPatch extends MergePatch(NewToy) {}

async function read(value: unknown): Promise<unknown> {
  try {
    const patch = await new ValidationPipe().transform(value, { type: 'body', metatype: ToyPatch });
    expect(patch).toBeInstanceOf(ToyPatch);
    return { ...(patch as object) };
  } catch (error) {
    return (error as ApiError).faults.map(({ field, code }) => `${field} ${code}`);
  }
}

const sent = fc.record(
  {
    name: fc.constantFrom('Ball', 'Rope'),
    priceCents: fc.integer(),
    colour: fc.constantFrom('red', null),
    note: fc.constantFrom('new', null),
    size: fc.constantFrom('small', 'large'),
    isNew: fc.constantFrom(true, false, null),
    maker: fc.constant('a@shop.example'),
    origin: fc.constantFrom('there', null),
  },
  { requiredKeys: [] },
);

describe('a merge patch', () => {
  it('is what was sent: no field more, none less, null where it was null', async () => {
    await fc.assert(
      fc.asyncProperty(sent, async (body) => {
        const { priceCents } = body;
        const expected = priceCents === undefined ? body : { ...body, priceCents: BigInt(priceCents) };
        expect(await read(body)).toEqual({ ...expected });
      }),
    );
  });

  it('may be absent, which changes nothing', async () => {
    expect(await read(undefined)).toEqual({});
  });

  it('does not reach into objects, and says so when the class is made', () => {
    class Box {
      @ApiProperty({ type: () => NewToy })
      toy!: NewToy;
    }
    class Bare {
      @ApiProperty()
      toy!: NewToy;
    }
    for (const resource of [Box, Bare])
      expect(() => MergePatch(resource)).toThrow(`MergePatch(${resource.name}): toy is an object`);
  });
});
