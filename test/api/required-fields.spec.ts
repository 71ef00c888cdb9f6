import { Body, Controller, Module, Post } from '@nestjs/common';
import { Type } from 'class-transformer';
import {
  ArrayMinSize,
  IsArray,
  IsDefined,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  MinLength,
  Validate,
  ValidateNested,
  ValidatorConstraint,
} from 'class-validator';
import { expect, it } from 'vitest';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { Text } from '../../src/http/validation/fields.js';
import { faultsOf } from '../support/faults.js';
import { declaredScopes } from '../../src/auth/scopes.js';
import { openForTest } from '../support/opened.js';

it('every required field that is left out is reported as `required`, for any kind of value', async () => {
  const service = await openForTest({ scopes: declaredScopes().map(({ name }) => name) });
  const checked: string[] = [];
  for (const { base, document } of service.documents)
    for (const [path, item] of Object.entries(document.paths))
      for (const method of ['post', 'put', 'patch'] as const) {
        const operation = item[method];
        const content =
          operation?.requestBody && 'content' in operation.requestBody && operation.requestBody.content;
        const [[type, { schema }] = ['', {}]] = Object.entries(content || {});
        const name = schema && '$ref' in schema ? schema.$ref.split('/').at(-1) : undefined;
        const named = document.components?.schemas?.[name ?? ''];
        const fields = named && 'required' in named ? (named.required ?? []) : [];
        if (fields.length === 0) continue;
        checked.push(`${operation?.operationId}: ${fields.join(', ')}`);
        // The bounds of self-service are asked again.
        service.clock.advance(60_000);
        const { status, body } = await service.request(method.toUpperCase(), `${base}${path}`, {
          json: '{}',
          headers: { 'content-type': type },
        });
        expect([path, status]).toEqual([path, 400]);
        for (const field of fields)
          expect([path, body.details]).toEqual([
            path,
            expect.arrayContaining([{ field, code: 'required', message: 'This field is required.' }]),
          ]);
      }
  expect(checked).toEqual(
    expect.arrayContaining([
      'createPet: name, categoryId',
      'createOwnWebhook: url, events',
      'createClient: name, plan',
      'issueKey: clientId',
      'createWebhook: url, events, clientId',
    ]),
  );
});

/** A rule of a team. */
@ValidatorConstraint({ name: 'nameOrNumber' })
class NameOrNumber {
  validate(): boolean {
    return false;
  }
}

class Line {
  @IsString()
  @MinLength(2)
  sku!: string;

  @IsOptional()
  @IsInt()
  count?: number;
}

class Basket {
  @IsArray()
  @ArrayMinSize(1)
  @ValidateNested({ each: true })
  @Type(() => Line)
  lines!: Line[];

  @IsDefined()
  @ValidateNested()
  @Type(() => Line)
  gift!: Line;

  @IsString({ each: true })
  @Matches(/^[a-z]+$/, { each: true })
  tags!: string[];

  @Text({ maxLength: 9 })
  place!: string;

  @Validate(NameOrNumber)
  number?: string;
}

@Controller({ path: 'baskets', version: '1' })
@RequireScopes()
class BasketsController {
  @Post()
  add(@Body() _: Basket): void {}
}

@Module({ controllers: [BasketsController] })
class BasketsModule {}

it('a required field of class-validator has the code and the words of the platform’s fields, and so has an unknown one inside', async () => {
  const service = await openForTest({ modules: [BasketsModule] });
  const post = (json: object) => service.request('POST', '/v1/baskets', { json });
  const absent = await post({});
  expect(faultsOf(absent)).toEqual([
    'lines required',
    'gift required',
    'tags required',
    'place required',
    'number name_or_number',
  ]);
  expect(absent.body.details.slice(0, 4).map(({ message }: { message: string }) => message)).toEqual(
    Array.from({ length: 4 }, () => 'This field is required.'),
  );

  const wrong = await post({
    lines: [{ color: 'red' }],
    gift: { sku: null, 'x y': 1 },
    tags: [1],
    place: 'a',
    shelf: 2,
  });
  expect(faultsOf(wrong).toSorted()).toEqual([
    'gift.sku is_string',
    'gift.sku min_length',
    'gift.x y unknown_field',
    'lines.0.color unknown_field',
    'lines.0.sku required',
    'number name_or_number',
    'shelf unknown_field',
    'tags is_string',
    'tags matches',
  ]);
  const unknown = wrong.body.details.filter(({ code }: { code: string }) => code === 'unknown_field');
  expect(unknown.map(({ message }: { message: string }) => message)).toEqual([
    'This field is unknown. The known fields are sku, count.',
    'This field is unknown. The known fields are sku, count.',
    'This field is unknown. The known fields are lines, gift, tags, place, number.',
  ]);
});
