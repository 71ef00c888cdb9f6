import {
  type ArgumentMetadata,
  BadRequestException,
  Body,
  Controller,
  Get,
  Module,
  type PipeTransform,
  Post,
  Query,
  StandardSchemaValidationPipe,
  UsePipes,
} from '@nestjs/common';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { APP_PIPE } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { openForAll } from '../support/opened.js';

/** As in Nest's documentation of controllers. */
class CreateCatDto {
  name!: string;
  age!: number;
  breed!: string;
}

class ListAllEntities {
  limit!: number;
}

/** A schema of the form of https://standardschema.dev: an object with a `name`, which gets a mark. */
const CAT = {
  '~standard': {
    version: 1 as const,
    vendor: 'petstore',
    validate(value: unknown): StandardSchemaV1.Result<object> {
      const { name } = (value ?? {}) as { readonly name?: unknown };
      if (typeof name === 'string') return { value: { ...(value as object), isValid: true } };
      return { issues: [{ message: 'name must be a string', path: ['name'] }] };
    },
  },
};

/** A class as createZodDto() makes it: without a property, and with the schema as a static member. */
class SchemaDto {
  static readonly schema = CAT;
}

/** Validates what has a class with a schema, as the pipe of nestjs-zod does. */
class SchemaPipe implements PipeTransform {
  transform(value: unknown, { metatype }: ArgumentMetadata): unknown {
    if (!metatype || !('schema' in metatype)) return value;
    const result = (metatype.schema as typeof CAT)['~standard'].validate(value);
    if (result.issues) throw new BadRequestException(result.issues[0]?.message);
    return result.value;
  }
}

@Controller('cats')
@RequireScopes()
class CatsController {
  @Post('undecorated')
  create(@Body() cat: CreateCatDto): CreateCatDto {
    return cat;
  }

  @Get()
  findAll(@Query() query: ListAllEntities): ListAllEntities {
    return query;
  }

  @Post('schema-class')
  ofSchema(@Body() cat: SchemaDto): SchemaDto {
    return cat;
  }

  @Post('schema')
  @UsePipes(new StandardSchemaValidationPipe())
  ofParameter(@Body({ schema: CAT }) cat: CreateCatDto): CreateCatDto {
    return cat;
  }
}
@Module({ controllers: [CatsController], providers: [{ provide: APP_PIPE, useClass: SchemaPipe }] })
class CatsModule {}

describe('a class of another validator, or of none', async () => {
  const service = await openForAll({ modules: [CatsModule] });
  const cat = { name: 'Tom', age: 3.5, breed: 'Manx', more: [1.25, { deep: 9007199254740993n }] };
  const sent = '{"name":"Tom","age":3.5,"breed":"Manx","more":[1.25,{"deep":9007199254740993}]}';

  it.each([
    ['without a decorator', '/cats/undecorated', sent],
    ['with a schema, by a pipe of a module', '/cats/schema-class', `${sent.slice(0, -1)},"isValid":true}`],
    ['with a Standard Schema', '/cats/schema', `${sent.slice(0, -1)},"isValid":true}`],
  ])('gets a body as it was sent: %s', async (_, path, text) => {
    const response = await service.request('POST', path, { json: cat });
    expect([response.status, response.text]).toEqual([201, text]);
  });

  it('gets a query as it was sent', async () => {
    expect((await service.request('GET', '/cats?limit=7&order=up')).body).toEqual({
      limit: '7',
      order: 'up',
    });
  });

  it.each(['/cats/schema-class', '/cats/schema'])('is validated by its own pipe: %s', async (path) => {
    const { status, body } = await service.request('POST', path, { json: { age: 3 } });
    expect([status, body.code]).toEqual([400, 'bad_request']);
    expect(body.message).toContain('name must be a string');
  });
});
