import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Get, Module, Param } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiOperation, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { DataSource } from 'typeorm';
import { describe, expect, it, vi } from 'vitest';
import { Pet } from '../support/pets/pet.entity.js';
import { Contract } from './contract.js';
import { defineFixture } from './fixture.js';
import { metricIn } from './metric-samples.js';
import { Clock } from '../../src/core/time/clock.js';
import type { TestClock } from './test-clock.js';
import { TestService, type TestServiceOptions } from './test-service.js';
import { openForAll } from '../support/opened.js';

const PET = defineFixture(Pet, (number) => ({
  name: `Pet ${number}`,
  categoryId: 1n,
  status: 'available',
}));

class Labeled {
  @ApiProperty()
  label!: string;
}

/** A tree. */
@ApiExtraModels(Labeled)
class Branch {
  @ApiProperty()
  name!: string;

  @ApiProperty({ type: () => Branch, nullable: true })
  parent!: Branch | null;

  @ApiProperty({ type: () => [Branch] })
  children!: Branch[];

  @ApiProperty({
    required: false,
    nullable: true,
    allOf: [{ $ref: getSchemaPath('Branch') }, { $ref: getSchemaPath(Labeled) }],
  })
  labeled?: (Branch & Labeled) | null;
}

const leaf = { name: 'leaf', parent: null, children: [] };
const BRANCHES: Readonly<Record<string, object>> = {
  whole: { ...leaf, parent: { ...leaf, labeled: null }, children: [leaf, { ...leaf, children: [leaf] }] },
  labeled: { ...leaf, labeled: { ...leaf, label: 'a' } },
  faulty: { ...leaf, children: [{ ...leaf, parent: { ...leaf, other: 1 } }] },
  unlabeled: { ...leaf, labeled: { ...leaf, parent: leaf } },
};

@Controller({ path: 'branches', version: '1' })
class BranchesController {
  @Get(':kind')
  @ApiOkResponse({ type: Branch })
  get(@Param('kind') kind: string): object {
    return BRANCHES[kind] ?? {};
  }
}

@Module({ controllers: [BranchesController] })
class BranchesModule {}

describe('the contract check of recursive schemas', async () => {
  const service = await openForAll({ modules: [BranchesModule] });

  it('accepts responses that match the document', async () => {
    for (const kind of ['whole', 'labeled'])
      expect((await service.request('GET', `/v1/branches/${kind}`)).body).toEqual(BRANCHES[kind]);
    expect((await service.request('GET', '/v1/pets')).status).toBe(200);
  });

  it.each([
    ['faulty', 'children/0/parent'],
    ['unlabeled', "must have required property 'label'"],
  ])('rejects responses that do not match the document: %s', async (kind, error) => {
    await expect(service.request('GET', `/v1/branches/${kind}`)).rejects.toThrow(error);
  });
});

it('removes the database of a service that fails to start', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kit-'));
  vi.stubEnv('TMPDIR', folder);
  const prepare = () => Promise.reject(new Error('Not ready.'));
  await expect(TestService.open({ database: 'file', prepare })).rejects.toThrow('Not ready.');
  vi.unstubAllEnvs();
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});

describe.each(['memory', 'file'] as const)('the kit, with a database in %s', async (database) => {
  const service = await openForAll({ database });

  it('adds rows of a fixture, with the given values', async () => {
    const [first, sold] = [await service.add(PET), await service.add(PET, { status: 'sold' })];
    expect([first.name, sold.name]).toEqual(['Pet 1', 'Pet 2']);
    const { body } = await service.request('GET', `/v1/pets/${sold.id}`);
    expect(body).toMatchObject({ id: Number(sold.id), name: 'Pet 2', status: 'sold' });
    expect(await service.repository(Pet).countBy({ status: 'sold' })).toBe(1);
  });

  it('checks an error response against a shared response of the document', async () => {
    const response = await service.request('GET', '/v1/pets', { key: null });
    const contract = new Contract(service.documents);
    contract.check('GET', '/v1/pets', response);
    const headers = new Headers(response.headers);
    headers.delete('www-authenticate');
    expect(() => contract.check('GET', '/v1/pets', { ...response, headers })).toThrow(
      'no header WWW-Authenticate',
    );
  });

  it.each(['authorization', 'Authorization', 'AUTHORIZATION'])('replaces the header %s', async (name) => {
    const { status } = await service.request('GET', '/v1/pets', { headers: { [name]: 'Bearer wrong' } });
    expect(status).toBe(401);
  });

  it.each(['content-type', 'Content-Type'])('replaces the header %s of a body', async (name) => {
    const headers = { [name]: 'text/plain' };
    const { status } = await service.request('POST', '/v1/pets', { json: {}, headers });
    expect(status).toBe(415);
  });

  it('reads metrics by their labels', async () => {
    const admitted = () => service.metric('petstore_quota_verdicts_total', { verdict: 'admitted' });
    const before = await admitted();
    await service.request('GET', '/v1/pets');
    await service.request('GET', '/v1/pets', { key: null });
    expect(await admitted()).toBe(before + 2);
    expect(await service.metric('petstore_quota_verdicts_total', { plan: 'free' })).toBe(0);
  });
});

// With PETSTORE_TEST_DATABASE=postgres, there is no file.
it.skipIf(process.env['PETSTORE_TEST_DATABASE'] === 'postgres')(
  'removes the file of a database when the service is closed',
  async () => {
    const service = await TestService.open({ database: 'file' });
    const { database } = service.app.get(DataSource).options;
    expect(existsSync(String(database))).toBe(true);
    await service.close();
    expect(existsSync(String(database))).toBe(false);
  },
);

/** A controller that uses only the decorators of Nest. */
@Controller({ path: 'extras', version: '1' })
class ExtrasController {
  @Get()
  @ApiOperation({ operationId: 'listExtras', summary: 'List extras', description: 'Lists extras.' })
  list(): object {
    return {};
  }
}

@Module({ controllers: [ExtrasController] })
class ExtrasModule {}

describe('the documents of services', () => {
  const documentsOf = async (options: TestServiceOptions = {}) => {
    const service = await TestService.open(options);
    await service.close();
    return service.documents;
  };
  let plain: TestService['documents'];

  it('are equal but separate copies if the options are equal', async () => {
    const [first, second] = [await documentsOf(), await documentsOf()];
    expect(second).toEqual(first);
    for (const { document } of first) document.paths = {};
    expect(second).not.toEqual(first);
    plain = await documentsOf();
    expect(plain).toEqual(second);
  });

  it.each<[string, TestServiceOptions]>([
    ['environment', { environment: { PUBLIC_BASE_URL: 'https://other.example/v1' } }],
    ['time, after an operation was removed', { at: '2031-01-01T00:00:00Z' }],
    ['modules', { modules: [ExtrasModule] }],
    [
      'modules that are created for one service',
      { modules: [{ module: class {}, imports: [ExtrasModule] }] },
    ],
    ['preparation', { prepare: (app) => app.get<TestClock>(Clock).set('2031-01-01T00:00:00Z') }],
  ])('depend on the %s', async (_, options) => {
    expect(await documentsOf(options)).not.toEqual(plain);
  });
});

describe('a metric in the text format', () => {
  const text = [
    '# HELP a_total What "a{x="1"} 5" is.',
    'a_total 3',
    'b_total{x="1",y="q\\"u\\\\o\\n{}"} 4',
    'b_total{x="1",y="z"} 0.5',
    'b_total{x="2",y="z"} +Inf',
    'c_sum{x="1"} 1e3',
  ].join('\n');

  it.each([
    ['without labels', 'a_total', {}, 3],
    ['without samples', 'd_total', {}, 0],
    ['with several matching samples', 'b_total', { x: '1' }, 4.5],
    ['with escapes in a label', 'b_total', { y: 'q"u\\o\n{}' }, 4],
    ['whose label has a different value', 'b_total', { x: '3' }, 0],
  ])('%s', (_, name, labels, value) => {
    expect(metricIn(text, name, labels)).toBe(value);
  });
});
