import {
  type CallHandler,
  ClassSerializerInterceptor,
  Controller,
  Get,
  Header,
  Injectable,
  Logger,
  Module,
  type NestInterceptor,
  Post,
  Res,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { InjectRepository } from '@nestjs/typeorm';
import { Exclude } from 'class-transformer';
import type { Response } from 'express';
import { type Observable, from, map } from 'rxjs';
import { Column, DataSource, Entity, JoinColumn, ManyToOne, type Repository } from 'typeorm';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { Int64Key } from '../../src/database/int64.js';
import { JsonText } from '../../src/database/json-rows.js';
import { Cached } from '../../src/http/caching/cached.decorator.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { Int64, Text } from '../../src/http/validation/fields.js';
import { addedTable } from '../support/added-table.js';
import { described } from '../support/described.js';
import { UNLIMITED, openForAll } from '../support/opened.js';

const HIDDEN = 'hash of a pin';

@Entity('owners')
class Owner {
  @Int64Key()
  id!: bigint;

  @Column('varchar', { length: 100 })
  name!: string;

  @Exclude()
  @Column('varchar', { name: 'pin_hash', length: 100 })
  pinHash!: string;

  @Column('varchar', { name: 'phone_number', length: 20, nullable: true })
  phoneNumber!: string | null;

  @Column('varchar', { length: 100, nullable: true })
  note!: string | null;

  @ManyToOne(() => Owner, { nullable: true })
  @JoinColumn({ name: 'partner_id' })
  partner!: Owner | null;

  get greeting(): string {
    return `Hello ${this.name}`;
  }
}

/** Requires what none of the results below has. */
class OwnerDto {
  @Int64()
  id!: bigint;

  @Text({ maxLength: 100 })
  name!: string;

  @Text({ maxLength: 100 })
  city!: string;

  @ApiProperty({ type: String, nullable: true })
  nickname!: string | null;

  @ApiProperty({ name: 'phone', required: false })
  phoneNumber?: string;

  @ApiProperty({ type: () => OwnerDto, required: false, nullable: true })
  partner?: OwnerDto | null;
}

class Whole {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  greeting!: string;
}

class Envelope {
  @ApiProperty({ type: Whole })
  data!: Whole;

  @ApiProperty()
  total!: number;
}

class Cat {
  @ApiProperty({ enum: ['cat'] })
  kind!: string;

  @ApiProperty()
  name!: string;

  @ApiProperty()
  lives!: number;
}

class Dog {
  @ApiProperty({ enum: ['dog'] })
  kind!: string;

  @ApiProperty()
  name!: string;
}

const refs = [{ $ref: getSchemaPath(Cat) }, { $ref: getSchemaPath(Dog) }];

@ApiExtraModels(Cat, Dog)
class Kennel {
  @ApiPropertyOptional({ oneOf: refs })
  one?: object;

  @ApiPropertyOptional({ anyOf: refs })
  any?: object;

  @ApiPropertyOptional({
    allOf: [{ $ref: getSchemaPath(Dog) }, { properties: { lives: { type: 'integer' } } }],
  })
  all?: object;

  @ApiPropertyOptional({ allOf: [{ $ref: getSchemaPath(Dog) }, { nullable: true }] })
  described?: object;

  @ApiPropertyOptional({ type: 'array', items: { oneOf: refs } })
  items?: object[];

  @ApiPropertyOptional({ isArray: true, oneOf: refs })
  listed?: object[];

  @ApiPropertyOptional({ type: 'object', additionalProperties: { $ref: getSchemaPath(Dog) } })
  byName?: object;

  @ApiPropertyOptional({ type: 'object', additionalProperties: { type: 'integer' } })
  counts?: object;

  @ApiPropertyOptional({
    oneOf: refs,
    discriminator: { propertyName: 'sort', mapping: { feline: getSchemaPath(Cat) } },
  })
  sorted?: object;

  @ApiPropertyOptional({ type: 'object', properties: { name: { type: 'string' } } })
  inline?: object;

  @ApiPropertyOptional({ type: () => [Dog], nullable: true })
  lazy?: object[] | null;

  @ApiPropertyOptional({ type: String })
  text?: unknown;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  free?: object;
}

@Injectable()
class Enveloping implements NestInterceptor {
  intercept(_: unknown, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data, total: 1, debug: HIDDEN })));
  }
}

const declared = (id: string, type: Type = OwnerDto, status = 200) => described(id, { status, type });

@Controller({ path: 'owners', version: '1' })
@RequireScopes()
class OwnersController {
  constructor(
    @InjectRepository(Owner) private readonly owners: Repository<Owner>,
    private readonly dataSource: DataSource,
  ) {}

  /** As created by a client that omits an optional field, so the entity has no such property. */
  private async created(): Promise<Owner> {
    const { note: _, ...row } = this.owners.create({ name: 'Ada', pinHash: HIDDEN, phoneNumber: '1' });
    return Object.assign(new Owner(), await this.owners.save(row));
  }

  @Post()
  @Idempotent()
  @declared('create', OwnerDto, 201)
  create(): Promise<Owner> {
    return this.created();
  }

  @Get('one')
  @declared('one')
  one(): Promise<Owner | null> {
    return this.owners.findOne({ where: { name: 'Ada' }, relations: { partner: true } });
  }

  @Get('list')
  @described('list', { arrayOf: OwnerDto, schemaName: 'Owners' })
  list(): Promise<Owner[]> {
    return this.owners.find({ select: { pinHash: true, name: true } });
  }

  @Get('raw')
  @described('raw', { arrayOf: OwnerDto, schemaName: 'RawOwners' })
  raw(): Promise<object[]> {
    return this.dataSource.query('SELECT id, name, pin_hash, pin_hash AS "pinHash" FROM owners');
  }

  @Get('raw-many')
  @described('rawMany', { arrayOf: OwnerDto, schemaName: 'RawMany' })
  rawMany(): Promise<object[]> {
    return this.owners.createQueryBuilder('owner').getRawMany();
  }

  @Get('observed')
  @declared('observed')
  observed(): Observable<Owner> {
    return from(this.owners.find()).pipe(map(([owner]) => owner as Owner));
  }

  @Get('cached')
  @Cached()
  @declared('cached')
  async cached(): Promise<JsonText> {
    const [owner] = await this.owners.find();
    return new JsonText(JSON.stringify({ phone: owner?.phoneNumber, name: 'Ada', pinHash: owner?.pinHash }));
  }

  @Get('by-hand')
  @declared('byHand')
  async byHand(@Res() response: Response): Promise<void> {
    response.json(await this.owners.findOneBy({ name: 'Ada' }));
  }

  @Get('sent')
  @declared('sent')
  async sent(@Res() response: Response): Promise<void> {
    response.send(await this.owners.find());
  }

  @Get('padded')
  @declared('padded')
  async padded(@Res() response: Response): Promise<void> {
    response.jsonp(await this.owners.findOneBy({ name: 'Ada' }));
  }

  @Get('sent-text')
  @declared('sentText')
  async sentText(@Res() response: Response): Promise<void> {
    response.type('json').send(await this.typed());
  }

  @Get('typed')
  @Header('Content-Type', 'application/json')
  @declared('typed')
  async typed(): Promise<string> {
    return JSON.stringify(await this.owners.findOneBy({ name: 'Ada' }), (_, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value,
    );
  }

  @Get('streamed')
  @described('streamed', { arrayOf: OwnerDto, schemaName: 'StreamedOwners' })
  async *streamed(): AsyncGenerator<object> {
    for (const { name, pinHash } of await this.owners.find()) yield { name, pinHash };
  }

  @Get('text')
  @declared('text')
  async text(): Promise<string | undefined> {
    return (await this.owners.find())[0]?.pinHash;
  }

  @Post('enveloped')
  @Idempotent()
  @UseInterceptors(Enveloping)
  @declared('enveloped', Envelope, 201)
  enveloped(): Promise<Owner> {
    return this.created();
  }

  @Post('serialized')
  @Idempotent()
  @UseInterceptors(ClassSerializerInterceptor)
  serialized(): Promise<Owner> {
    return this.created();
  }

  @Get('kennel')
  @declared('kennel', Kennel)
  kennel(): object {
    const secret = HIDDEN;
    const [cat, dog] = [
      { kind: 'cat', name: 'Tom', lives: 9n, secret },
      { kind: 'dog', name: 'Rex', lives: 1, secret },
    ];
    return {
      one: dog,
      any: cat,
      all: dog,
      described: dog,
      items: [cat, dog, { kind: 'cow', secret }],
      listed: [dog, { name: 'Tom', secret }],
      byName: { Rex: dog },
      counts: { toys: 2, secret },
      sorted: { sort: 'feline', ...dog },
      inline: { name: 'Rex', secret },
      lazy: [dog],
      text: dog,
      free: { any: { thing: 1 } },
      secret,
    };
  }

  @Get('mismatched')
  @declared('mismatched', Kennel)
  mismatched(): object {
    const other = { kind: 'cow', secret: HIDDEN };
    return { one: other, any: HIDDEN, sorted: { sort: 'cow', ...other }, inline: HIDDEN, lazy: null };
  }
}

@Module({ imports: [addedTable(Owner)], controllers: [OwnersController] })
class OwnersModule {}

const warned = vi.spyOn(Logger.prototype, 'warn');

const service = await openForAll({ modules: [OwnersModule], ...UNLIMITED, database: 'file' });

async function request(method: string, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.url}/v1/owners${path}`, {
    method,
    headers: { authorization: `Bearer ${service.key}`, ...headers },
  });
  const text = await response.text();
  expect(text).not.toContain(HIDDEN);
  return { status: response.status, text };
}

beforeAll(async () => {
  const owners = service.repository(Owner);
  const partner = await owners.save({ name: 'Bob', pinHash: HIDDEN });
  await owners.save({ name: 'Ada', pinHash: HIDDEN, phoneNumber: '1', partner });
});

const BOB = '{"id":1,"name":"Bob","nickname":null}';

describe('a result that lacks a member which its DTO requires', () => {
  it.each([
    ['an entity', '/one', `{"id":2,"name":"Ada","nickname":null,"phone":"1","partner":${BOB}}`],
    ['a partial select', '/list', '[{"name":"Bob","nickname":null},{"name":"Ada","nickname":null}]'],
    ['an Observable', '/observed', '{"id":1,"name":"Bob","nickname":null}'],
    ['a text of JSON by hand', '/cached', '{"name":"Ada","nickname":null}'],
    ['a response written by hand', '/by-hand', '{"id":2,"name":"Ada","nickname":null,"phone":"1"}'],
    ['a text that is named JSON', '/typed', '{"id":2,"name":"Ada","nickname":null}'],
    ['a JSONP response', '/padded', '{"id":2,"name":"Ada","nickname":null,"phone":"1"}'],
    [
      'a JSONP response with a callback',
      '/padded?callback=a',
      '{"id":2,"name":"Ada","nickname":null,"phone":"1"}',
    ],
    ['a text of JSON that is sent', '/sent-text', '{"id":2,"name":"Ada","nickname":null}'],
    ['a text', '/text', 'null'],
  ])('shows nothing else: %s', async (_, path, expected) => {
    for (let sent = 0; sent < 2; sent += 1)
      expect(await request('GET', path)).toEqual({ status: 200, text: expected });
  });

  it.each(['/raw', '/raw-many', '/sent'])('shows nothing else: %s', async (path) => {
    const { status, text } = await request('GET', path);
    expect([status, Object.keys(JSON.parse(text)[0])]).toEqual([200, expect.arrayContaining(['nickname'])]);
  });

  it('is logged once', async () => {
    await request('GET', '/one');
    const lines = warned.mock.calls.map(([line]: unknown[]) => String(line));
    const ofOne = lines.filter((line) => line.startsWith('The response of one '));
    expect(ofOne).toEqual([
      'The response of one (OwnersController.one) lacks "city" of OwnerDto, or its value does not match the declaration.',
    ]);
  });

  it('is not sent as a stream of objects', async () => {
    expect((await request('GET', '/streamed')).status).toBe(500);
  });

  it.each([
    ['that is created', '', expect.stringMatching(/^\{"id":\d+,"name":"Ada","nickname":null,"phone":"1"\}$/)],
    ['in the envelope of an interceptor', '/enveloped', '{"data":{"name":"Ada"},"total":1}'],
  ])('and its stored response show nothing else: one %s', async (_, path, expected) => {
    const first = await request('POST', path, { 'idempotency-key': `k${path}` });
    expect(first).toEqual({ status: 201, text: expected });
    expect(await request('POST', path, { 'idempotency-key': `k${path}` })).toEqual(first);
  });

  it('is what ClassSerializerInterceptor makes of it where no DTO is declared, also when it is stored', async () => {
    const first = await request('POST', '/serialized', { 'idempotency-key': 's' });
    expect(first.text).toMatch(/"name":"Ada"/);
    expect((await request('POST', '/serialized', { 'idempotency-key': 's' })).text).toBe(first.text);
  });
});

describe('a member', () => {
  it('is reduced by the schema that it matches', async () => {
    const [cat, dog] = [
      { kind: 'cat', name: 'Tom', lives: 9 },
      { kind: 'dog', name: 'Rex' },
    ];
    expect(JSON.parse((await request('GET', '/kennel')).text)).toEqual({
      one: dog,
      any: cat,
      all: { ...dog, lives: 1 },
      described: dog,
      items: [cat, dog, null],
      listed: [dog, null],
      byName: { Rex: dog },
      counts: { toys: 2 },
      sorted: { kind: 'dog', name: 'Rex', lives: 1 },
      inline: { name: 'Rex' },
      lazy: [dog],
      free: { any: { thing: 1 } },
    });
  });

  it('is not shown where it matches none', async () => {
    expect((await request('GET', '/mismatched')).text).toBe('{"lazy":null}');
  });
});
