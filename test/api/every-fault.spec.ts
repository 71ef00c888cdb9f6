import { Body, Controller, Module, Param, ParseIntPipe, Post, Query } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { describe, expect, it } from 'vitest';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { Enum, Int64, Integer, Text } from '../../src/http/validation/fields.js';
import { faultsOf } from '../support/faults.js';
import { openForAll } from '../support/opened.js';
import { described } from '../support/described.js';

class CageParams {
  @Int64({ description: 'Id of the cage', example: 1 })
  cageId!: bigint;
}

class CageQuery {
  @Integer({ description: 'Floor of the cage', minimum: 0, maximum: 5, default: 0 })
  floor!: number;

  @Enum({ enumName: 'CageSize', values: ['small', 'large'], description: 'Size of the cage', optional: true })
  size?: string;
}

class NewCage {
  @Text({ description: 'Name of the cage', example: 'Den', maxLength: 10 })
  name!: string;

  @Int64({ description: 'Category of the cage', example: 1 })
  categoryId!: bigint;
}

@ApiExcludeController()
@Controller({ path: 'cages', version: '1' })
class CagesController {
  @Post('direct/:cageId')
  @Idempotent()
  @described('takeCageDirectly', { type: Object })
  direct(@Param() params: CageParams, @Query() query: CageQuery, @Body() body: NewCage): object {
    return { params, query, body };
  }

  @Post('piped/:floor')
  @described('takeCageByPipe', { type: Object })
  piped(@Param('floor', ParseIntPipe) floor: number, @Body() body: NewCage): object {
    return { floor, body };
  }
}

@Module({ controllers: [CagesController] })
class CagesModule {}

const service = await openForAll({ modules: [CagesModule] });

describe('an operation', () => {
  const post = (path: string, json: unknown, headers: Record<string, string> = {}) =>
    service.request('POST', `/v1/cages/direct/${path}`, { json, headers });

  it('reports the errors of path, query, body and Idempotency-Key at once', async () => {
    const refusal = await post(
      'x?floor=9&size=huge',
      { name: '', age: 1 },
      { 'idempotency-key': 'white space' },
    );
    expect([refusal.status, refusal.body.code]).toEqual([400, 'validation_failed']);
    expect(faultsOf(refusal).toSorted()).toEqual([
      'Idempotency-Key malformed_key',
      'age unknown_field',
      'cageId not_an_integer',
      'categoryId required',
      'floor out_of_range',
      'name blank',
      'size not_allowed_value',
    ]);
  });

  it.each([
    ['path', 'x', { name: 'Den', categoryId: 1 }, ['cageId not_an_integer']],
    ['query', '1?floor=9', { name: 'Den', categoryId: 1 }, ['floor out_of_range']],
    ['body', '1', { name: '' }, ['categoryId required', 'name blank']],
    ['path and body', 'x', { name: '' }, ['cageId not_an_integer', 'categoryId required', 'name blank']],
    ['query and body', '1?Floor=1', { name: 'Den' }, ['Floor misspelled_parameter', 'categoryId required']],
  ])('reports each error once: %s', async (_, path, json, faults) => {
    expect(faultsOf(await post(path, json)).toSorted()).toEqual(faults);
  });

  it('reports first that the body is empty, whatever else is wrong', async () => {
    const { status, body } = await service.request('POST', '/v1/cages/direct/x?floor=9');
    expect([status, body.code]).toEqual([400, 'malformed_json']);
  });

  it('accepts a request without errors', async () => {
    const { status, body } = await post('7?size=large', { name: 'Den', categoryId: 1 });
    expect([status, body]).toEqual([
      200,
      { params: { cageId: 7 }, query: { floor: 0, size: 'large' }, body: { name: 'Den', categoryId: 1 } },
    ]);
  });
});

it('an argument with its own pipe is refused by that pipe, which runs in addition to the validation of others', async () => {
  const refusal = (path: string, json: unknown) =>
    service.request('POST', `/v1/cages/piped/${path}`, { json });
  const ofPipe = await refusal('x', { name: 'Den', categoryId: 1 });
  expect([ofPipe.status, ofPipe.body.code]).toEqual([400, 'bad_request']);
  expect(faultsOf(await refusal('1', { name: '', categoryId: 1 }))).toEqual(['name blank']);
  // As in Nest, the first of them to reject decides.
  const ofEither = await refusal('x', { name: '', categoryId: 1 });
  expect([ofEither.status, faultsOf(ofEither)]).toBeOneOf([
    [400, []],
    [400, ['name blank']],
  ]);
});
