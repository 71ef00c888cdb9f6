import { ApiProperty } from '@nestjs/swagger';
import { IsEmail } from 'class-validator';
import { expect, it } from 'vitest';
import { Text } from './fields.js';
import { MergePatch } from './merge-patch.js';
import { ValidationPipe } from './validation.pipe.js';

class Maker {
  @ApiProperty()
  @IsEmail()
  address!: string;

  /** An initializer's value belongs to the resource, not to a patch. */
  @Text({ maxLength: 10, optional: true })
  origin = 'here';
}

class MakerPatch extends MergePatch(Maker) {}

const read = (value: unknown) =>
  new ValidationPipe().transform(value, { type: 'body', metatype: MakerPatch });

it.each([undefined, {}, { address: 'a@shop.example' }, { origin: null }])(
  'a merge patch is what was sent, also of fields that class-validator describes: %o',
  async (sent) => expect({ ...((await read(sent)) as object) }).toEqual({ ...sent }),
);

it('a merge patch refuses what class-validator refuses', async () => {
  await expect(read({ address: 'nowhere' })).rejects.toMatchObject({ faults: [{ field: 'address' }] });
});

it('a merge patch does not reach into objects, and says so when the class is made', () => {
  class Box {
    @ApiProperty({ type: () => Maker })
    toy!: Maker;
  }
  class Bare {
    @ApiProperty()
    toy!: Maker;
  }
  for (const resource of [Box, Bare])
    expect(() => MergePatch(resource)).toThrow(`MergePatch(${resource.name}): toy is an object`);
});
