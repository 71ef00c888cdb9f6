import { Body, Controller, Get, Module, Param, Post, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiSchema } from '@nestjs/swagger';
import { describe, expect, it } from 'vitest';
import { Public, RequireScopes } from '../../src/auth/auth.decorators.js';
import { Int64, Text } from '../../src/http/validation/fields.js';
import { Tag } from '../../src/http/declarations/operation.decorator.js';
import { PETS_SCOPES } from '../support/pets/pets.scopes.js';
import { describeRefusals } from '../support/refusal-table.js';
import { openForAll, openForTest } from '../support/opened.js';
import { described } from '../support/described.js';

@ApiSchema({ name: 'NewPet' })
class NewPetOfVersion2 {
  @Text({ maxLength: 50 })
  title!: string;
}

/** Has the name of the first version's, and other members. */
@ApiSchema({ name: 'Pet' })
class PetOfVersion2 extends NewPetOfVersion2 {
  @Int64()
  id!: bigint;
}

class PetParams {
  @Int64()
  petId!: bigint;
}

const operation = (id: string, status = 200) => described(id, { status, type: PetOfVersion2 });

@Tag('Pets', 'The second version.')
@Controller({ path: 'pets', version: '2' })
class PetsOfVersion2Controller {
  @Post()
  @RequireScopes(PETS_SCOPES.write)
  @operation('createPet', 201)
  create(@Body() { title }: NewPetOfVersion2): PetOfVersion2 {
    return { title, id: 1n };
  }

  @Get(':petId')
  @RequireScopes(PETS_SCOPES.read)
  @operation('getPet')
  get(@Param() { petId }: PetParams): PetOfVersion2 {
    return { title: 'Rex', id: petId };
  }
}

/** Without a decorator of the platform, and of both versions. */
@Controller({ path: 'both', version: ['2', '3'] })
class PlainController {
  @Get()
  both(): object {
    return {};
  }

  @Get('scoped')
  @RequireScopes(PETS_SCOPES.read)
  @ApiOperation({ summary: 'Scoped' })
  scoped(): object {
    return {};
  }

  @Get('open')
  @Public()
  open(): object {
    return {};
  }
}

class Plain {
  @ApiProperty()
  a!: string;
}

@Controller({ path: 'plain', version: '10' })
class TenController {
  @Get()
  @described('ten', { type: Plain })
  ten(): Plain {
    return { a: 'b' };
  }
}

@Module({ controllers: [PetsOfVersion2Controller, PlainController, TenController] })
class Version2Module {}

@Controller({ path: 'admin/reports', version: VERSION_NEUTRAL })
class NeutralController {
  @Get()
  @RequireScopes(PETS_SCOPES.read)
  @described('getReport', { type: Plain })
  get(): Plain {
    return { a: 'b' };
  }
}

@Module({ controllers: [NeutralController] })
class NeutralModule {}

describe('a second version of the API', async () => {
  const service = await openForAll({ modules: [Version2Module, NeutralModule] });

  it('is served alongside the first, with responses checked against its own document', async () => {
    const second = await service.request('POST', '/v2/pets', { json: { title: 'Rex' } });
    expect([second.status, second.body]).toEqual([201, { title: 'Rex', id: 1 }]);
    const first = await service.request('POST', '/v1/pets', { json: { name: 'Rex', categoryId: 1 } });
    expect([first.status, first.body]).toMatchObject([201, { name: 'Rex', id: 1 }]);
    expect((await service.request('GET', '/v2/pets/9')).text).toBe('{"title":"Rex","id":9}');
    expect((await service.request('POST', '/v2/pets', { json: { name: 'Rex' } })).body.details).toHaveLength(
      2,
    );
  });

  it.each([
    ['a wrong method', 'DELETE', '/v2/pets', 405, 'OPTIONS, POST'],
    ['a path that is nowhere', 'GET', '/v2/nothing', 404, undefined],
    ['a path below a version without a decorator of the platform', 'GET', '/v3/nothing', 404, undefined],
  ])('refuses %s as the first does: only with a key, and counted', async (_, method, path, status, allow) => {
    const [refused, unknown] = [
      await service.request(method, path),
      await service.request(method, path, { key: null }),
    ];
    expect([refused.status, refused.headers.get('allow') ?? undefined]).toEqual([status, allow]);
    expect(refused.headers.has('x-ratelimit-limit')).toBe(true);
    expect(unknown.status).toBe(401);
  });

  it('has its own document, which changes nothing in the first', async () => {
    expect(service.document).toEqual((await openForTest()).document);
    const { info, servers, paths, components } = service.documentOf('/v2');
    expect([info.version, servers?.map(({ url }) => url)]).toEqual(['2.0.0', ['/v2']]);
    expect(Object.keys(paths)).toEqual(['/pets', '/pets/{petId}', '/both', '/both/scoped', '/both/open']);
    expect(paths['/both/scoped']?.get?.description).toBe('Needs the scope `pets:read`.');
    expect(components?.schemas?.['Pet']).toMatchObject({ required: ['title', 'id'] });
    expect(Object.keys(service.documentOf('/v10').paths)).toEqual(['/plain']);
  });

  it('leaves what is neutral to versions in the document of its path', () => {
    const { get } = service.adminDocument.paths['/reports'] ?? {};
    expect(get).toMatchObject({ operationId: 'getReport', 'x-required-scopes': ['pets:read'] });
  });

  it('has its own page', async () => {
    const get = (path: string) => service.request('GET', path, { key: null });
    const { text } = await get('/docs/v2');
    expect(text).toContain('data-document="../docs/v2/openapi.json"');
    expect(text).toContain('<a href="../docs/v2" aria-current="page">API v2</a>');
    const served = (await get('/docs/v2/openapi.json')).body;
    expect(served).toEqual(JSON.parse(JSON.stringify(service.documentOf('/v2'))));
    expect(served.servers[0].url).toBe('/v2');
    expect((await get('/docs/v4')).status).toBe(404);
  });
});

describe('the derived refusal table covers it:', () => {
  describeRefusals({ modules: [Version2Module] }, ['/v2', '/v3', '/v10']);
});
