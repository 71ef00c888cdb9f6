import { Body, Controller, Module, ParseArrayPipe, Patch, Post } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsDefined, IsObject, IsOptional, IsString, ValidateNested } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { Int64, StringList, Text } from '../../src/http/validation/fields.js';
import { MergePatch } from '../../src/http/validation/merge-patch.js';
import { faultsOf } from '../support/faults.js';
import { UNLIMITED, openForAll } from '../support/opened.js';

class Fields {
  @Text({ maxLength: 9 })
  name!: string;

  @Int64({ optional: true })
  count?: bigint;

  @StringList({ optional: true })
  names?: string[];
}

class FieldsPatch extends MergePatch(Fields) {}

class Inner {
  @IsString()
  text!: string;
}

class Plain {
  @IsOptional()
  @IsString()
  name?: string;

  @IsOptional()
  @IsString({ each: true })
  names?: string[];

  @IsOptional()
  @IsObject()
  settings?: object;
}

class Outer {
  @IsDefined()
  @ValidateNested()
  @Type(() => Inner)
  inner!: Inner;

  @IsOptional()
  @IsString()
  name?: string;
}

@Controller({ path: 'kinds', version: '1' })
@RequireScopes()
class KindsController {
  @Post('fields')
  fields(@Body() _: Fields): void {}

  @Patch('fields')
  patch(@Body() _: FieldsPatch): void {}

  @Post('plain')
  plain(@Body() _: Plain): void {}

  @Post('outer')
  outer(@Body() _: Outer): void {}

  @Post('items')
  items(@Body(new ParseArrayPipe({ items: Plain })) _: Plain[]): void {}
}

@Module({ controllers: [KindsController] })
class KindsModule {}

const service = await openForAll({
  modules: [KindsModule],
  ...UNLIMITED,
  environment: { BODY_LIMIT_BYTES: '16777216' },
});

/** The members of an object, as JSON without its braces. */
const members = (count: number): string => Array.from({ length: count }, (_, at) => `"m${at}":1`).join(',');

/** Where the members stand in a body, and what each of these bodies is refused for; 201 where it is taken. */
type Nested = readonly [request: string, body: (inner: string) => string, faults: unknown];
const NESTED: readonly Nested[] = [
  ['POST pets', (inner) => `{"name":"a","categoryId":1,"status":{${inner}}}`, ['status not_allowed_value']],
  ['POST pets', (inner) => `{"name":[{${inner}}],"categoryId":1}`, ['name not_a_string']],
  ['POST kinds/fields', (inner) => `{"name":"a","count":{${inner}}}`, ['count not_an_integer']],
  ['POST kinds/fields', (inner) => `{"name":"a","names":[{${inner}}]}`, ['names not_a_list_of_names']],
  ['PATCH kinds/fields', (inner) => `{"name":{${inner}}}`, ['name not_a_string']],
  ['POST kinds/plain', (inner) => `{"name":{${inner}}}`, ['name is_string']],
  ['POST kinds/plain', (inner) => `{"settings":{${inner}}}`, 201],
  ['POST kinds/outer', (inner) => `{"inner":{"text":{${inner}}}}`, ['inner.text is_string']],
];
/** Those that class-validator names a fault of each member of, or that Nest's own pipe walks through. */
const WALKED: readonly Nested[] = [
  ['POST kinds/outer', (inner) => `{"inner":{"text":"a",${inner}}}`, 'unknown_field'],
  ['POST kinds/items', (inner) => `[{"name":{${inner}}}]`, undefined],
];

async function send(request: string, json: string): Promise<{ ms: number; outcome: unknown }> {
  const [method = '', path = ''] = request.split(' ');
  const start = process.cpuUsage();
  const response = await service.request(method, `/v1/${path}`, { json });
  const { user, system } = process.cpuUsage(start);
  return { ms: (user + system) / 1_000, outcome: response.status === 201 ? 201 : faultsOf(response) };
}

/** How many times as much processor time a body takes as one that has the same members as unknown fields. */
async function costOf([request, body, faults]: Nested, inner: string, most: number): Promise<number> {
  const flat: number[] = [];
  const nested: number[] = [];
  const cost = (): number => Math.min(...nested) / Math.min(...flat);
  // The least of several, in turn: whatever else the machine does comes on top, on a busy one for longer.
  for (let round = 0; round < 3 || (round < 20 && cost() >= most); round += 1) {
    flat.push((await send('POST pets', `{"name":"a","categoryId":1,${inner}}`)).ms);
    const { ms, outcome } = await send(request, body(inner));
    nested.push(ms);
    if (typeof faults === 'string') expect(outcome).toContainEqual(expect.stringContaining(faults));
    else if (faults !== undefined) expect(outcome).toEqual(faults);
  }
  return cost();
}

/** What grows with the square of the members takes tens of times as much at 11,000: noise of the machine does not. */
const MOST = 10;

describe('11,000 members in a value of the wrong kind', () => {
  const inner = members(11_000);

  it.each(NESTED)('cost about what they cost as unknown fields: %s %s', async (...nested) => {
    expect(await costOf(nested, inner, MOST)).toBeLessThan(MOST);
  });

  it.each(WALKED)('cost a small multiple of that: %s %s', async (...nested) => {
    expect(await costOf(nested, inner, 2 * MOST)).toBeLessThan(2 * MOST);
  });
});
