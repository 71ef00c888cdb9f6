import { Body, Controller, Get, Module, Post, type Type } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { parse as parseYaml } from 'yaml';
import { describe, expect, it } from 'vitest';
import { Operation } from '../../src/http/declarations/operation.decorator.js';
import { Int64, Text } from '../../src/http/validation/fields.js';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { TestService } from '../kit/test-service.js';
import { openForTest } from '../support/opened.js';

function dto(name: string, schema?: string): Type {
  class Toy {
    @Text({ maxLength: 40 })
    name!: string;
  }
  Object.defineProperty(Toy, 'name', { value: name });
  if (schema !== undefined) ApiSchema({ name: schema })(Toy);
  return Toy;
}

/** A module with one operation that returns a DTO, at a version of the API. */
function moduleOf(shownAs: Type, path: string, version = '1'): Type {
  @Controller({ path, version })
  class ToysController {
    @Get()
    @RequireScopes()
    @Operation({
      id: `get_${path}`,
      summary: 'A toy',
      description: 'A toy.',
      responses: { status: 200, type: shownAs, description: 'A toy' },
    })
    toy(): object {
      return { name: 'Bear' };
    }
  }
  @Module({ controllers: [ToysController] })
  class ToysModule {}
  return ToysModule;
}

const open = (...modules: Type[]) => TestService.open({ modules });

describe('two classes of one name', () => {
  it('stop the start, with the files that declare them', async () => {
    await expect(open(moduleOf(dto('ClientDto', 'Error'), 'toys'))).rejects.toThrow(
      'Two classes have the schema name "Error" in one document: src/admin/dto/client.dto.ts and ' +
        'src/core/errors/api-errors.decorator.ts. Rename one of them, or give it another name with @ApiSchema({ name }).',
    );
  });

  it('stop it where both are of packages, and where one is within another', async () => {
    class Box {
      @ApiProperty({ type: () => [dto('InBox')] })
      toys!: object[];
    }
    await expect(open(moduleOf(Box, 'boxes'), moduleOf(dto('InBox'), 'toys'))).rejects.toThrow(
      'Two classes have the schema name "InBox" in one document: of packages.',
    );
  });

  it('stop it where one has the name by @ApiSchema()', async () => {
    await expect(open(moduleOf(dto('AToy', 'Bear'), 'a'), moduleOf(dto('Bear'), 'b'))).rejects.toThrow(
      'Two classes have the schema name "Bear" in one document',
    );
    await expect(open(moduleOf(dto('AnError', 'Error'), 'a'))).rejects.toThrow(
      'Two classes have the schema name "Error" in one document',
    );
  });

  it.each([
    ['of two versions', [moduleOf(dto('Bear'), 'a', '1'), moduleOf(dto('Bear'), 'b', '2')]],
    ['of the API and of the administration', [moduleOf(dto('Client'), 'a')]],
    ['with other names of schemas', [moduleOf(dto('Bear', 'One'), 'a'), moduleOf(dto('Bear', 'Two'), 'b')]],
  ])('may be %s', async (_, modules) => {
    const service = await openForTest({ modules });
    expect(service.document.paths).toHaveProperty('/a');
  });
});

it('an example that is a bigint is shown exactly', async () => {
  class Coin {
    @Int64()
    @ApiProperty({ example: 9223372036854775807n, minimum: 10n as unknown as number })
    cents!: bigint;
  }
  @Controller({ path: 'coins', version: '1' })
  class CoinsController {
    @Post()
    @RequireScopes()
    @Operation({
      id: 'addCoin',
      summary: 'Add a coin',
      description: 'Add a coin.',
      responses: { status: 201, type: Coin, description: 'A coin' },
    })
    add(@Body() coin: Coin): Coin {
      return coin;
    }
  }
  @Module({ controllers: [CoinsController] })
  class CoinsModule {}
  const service = await openForTest({ modules: [CoinsModule] });
  const get = async (path: string): Promise<string> => (await fetch(service.url + path)).text();
  expect(await get('/docs/openapi.json')).toContain('"example":9223372036854775807');
  const yaml = await get('/docs/openapi.yaml');
  expect(yaml).toContain('example: 9223372036854775807');
  expect(parseYaml(yaml).components.schemas.Coin.properties.cents.minimum).toBe(10);
  expect((await fetch(`${service.url}/docs/`)).status).toBe(200);
});
