import {
  type ArgumentsHost,
  Body,
  type CanActivate,
  Catch,
  Controller,
  DefaultValuePipe,
  type ExceptionFilter,
  Get,
  Injectable,
  Module,
  Param,
  ParseBoolPipe,
  ParseIntPipe,
  Post,
  Query,
  Res,
  UploadedFile,
  UseInterceptors,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { EventEmitter2, OnEvent } from '@nestjs/event-emitter';
import { FileInterceptor } from '@nestjs/platform-express';
import { ApiBody, ApiConsumes, ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { IsInt, IsString, Length, Max, Min } from 'class-validator';
import type { Response } from 'express';
import { Column, Entity, PrimaryGeneratedColumn, type QueryRunner, type Repository, Table } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { TablesModule } from '../../src/database/tables.module.js';
import { openForAll, openForTest } from '../support/opened.js';

/** An entity in no file of its own, whose repository Nest's own module provides. */
@Entity('kites')
class Kite {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('varchar', { length: 40 })
  name!: string;

  @Column('integer')
  tails!: number;
}

class Kites1799700000001 {
  async up(runner: QueryRunner): Promise<void> {
    const id = { name: 'id', type: 'integer', isPrimary: true, isGenerated: true } as const;
    await runner.createTable(
      new Table({
        name: 'kites',
        columns: [
          { ...id, generationStrategy: 'increment' },
          { name: 'name', type: 'varchar', length: '40' },
          { name: 'tails', type: 'integer' },
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('kites');
  }
}

class NewKite {
  @ApiProperty({ description: 'What it is called' })
  @IsString()
  @Length(1, 40)
  name!: string;

  @ApiProperty({ minimum: 0, maximum: 9 })
  @IsInt()
  @Min(0)
  @Max(9)
  tails!: number;
}

class KiteDto extends NewKite {
  @ApiProperty()
  id!: number;
}

class Torn extends Error {}
class Tangled extends Error {}
class Lost extends Error {
  constructor(readonly body: unknown) {
    super();
  }
}

@Catch(Torn)
class TornFilter implements ExceptionFilter<Torn> {
  catch(_: Torn, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(409).json({ message: 'The kite is torn.' });
  }
}

/** As Nest's documentation writes one: without a message. */
@Catch(Lost)
class LostFilter implements ExceptionFilter<Lost> {
  catch({ body }: Lost, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(404).json(body);
  }
}

/** Writes a text, as `sendStatus()` does. */
@Catch(Tangled)
class TangledFilter implements ExceptionFilter<Tangled> {
  catch(_: Tangled, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(404).send('The kite is tangled.');
  }
}

/** A guard under its class, so that another can take its place. */
@Injectable()
class WindGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@ApiTags('Kites')
@Controller({ path: 'kites', version: '1' })
class KitesController {
  constructor(
    @InjectRepository(Kite) private readonly kites: Repository<Kite>,
    private readonly events: EventEmitter2,
  ) {}

  @Post()
  @ApiOperation({ operationId: 'flyKite', summary: 'Fly a kite' })
  @ApiResponse({ status: 201, description: 'It flies', type: KiteDto })
  async fly(@Body() kite: NewKite): Promise<Kite> {
    const flown = await this.kites.save(this.kites.create(kite));
    this.events.emit('kite.flown', flown.name);
    return flown;
  }

  @Get(':id')
  @ApiResponse({ status: 200, type: KiteDto })
  one(@Param('id', ParseIntPipe) id: number): Promise<Kite | null> {
    if (id === 13) throw new Torn();
    if (id === 14) throw new Lost({ statusCode: 404, path: '/v1/kites' });
    if (id === 15) throw new Lost(null);
    if (id === 16) throw new Tangled();
    return this.kites.findOneBy({ id });
  }

  @Get('tails/longest')
  longest(
    @Query('page', new DefaultValuePipe(1), ParseIntPipe) page: number,
    @Query('red', new DefaultValuePipe(false), ParseBoolPipe) red: boolean,
  ): object {
    return { page, red };
  }

  @Get('written/:how')
  written(@Param('how') how: string, @Res() response: Response): void {
    if (how === 'status') response.sendStatus(404);
    else response.status(404).type('html').send('<p>No kite</p>');
  }

  @Post('pictures')
  @ApiConsumes('multipart/form-data')
  @ApiBody({ schema: { type: 'object', properties: { picture: { type: 'string', format: 'binary' } } } })
  @ApiResponse({ status: 201, schema: { type: 'object', properties: { size: { type: 'integer' } } } })
  @UseInterceptors(FileInterceptor('picture'))
  picture(@UploadedFile() file: { readonly size: number }): object {
    return { size: file.size };
  }
}

@Injectable()
class Spectator {
  readonly seen: string[] = [];

  @OnEvent('kite.flown')
  see(name: string): void {
    this.seen.push(name);
  }
}

@Module({
  imports: [
    TypeOrmModule.forFeature([Kite]),
    TablesModule.forFeature({ entities: [], migrations: [Kites1799700000001] }),
  ],
  controllers: [KitesController],
  providers: [
    Spectator,
    WindGuard,
    { provide: APP_GUARD, useExisting: WindGuard },
    { provide: APP_FILTER, useClass: TornFilter },
    { provide: APP_FILTER, useClass: LostFilter },
    { provide: APP_FILTER, useClass: TangledFilter },
  ],
})
class KitesModule {}

describe('a module that uses only Nest', async () => {
  const service = await openForAll({ modules: [KitesModule] });
  const fly = (json: object, more = {}) => service.request('POST', '/v1/kites', { json, ...more });

  it('needs a key, counts, and stores with the repository of an entity without a separate file', async () => {
    expect((await fly({ name: 'Red', tails: 2 }, { key: null })).status).toBe(401);
    const { status, body, headers } = await fly({ name: 'Red', tails: 2 });
    expect([status, body]).toEqual([201, { id: 1, name: 'Red', tails: 2 }]);
    expect(Number(headers.get('x-ratelimit-limit'))).toBeGreaterThan(0);
    expect((await service.request('GET', '/v1/kites/1')).body).toMatchObject({ name: 'Red' });
  });

  it('has its events received, Error bodies from its filter, and its file accepted', async () => {
    await fly({ name: 'Blue', tails: 0 });
    expect(service.app.get(Spectator).seen).toContain('Blue');
    const torn = await service.request('GET', '/v1/kites/13');
    expect([torn.status, torn.body]).toEqual([
      409,
      { code: 'conflict', message: 'The kite is torn.', status: 409 },
    ]);
    for (const id of [14, 15]) {
      const { status, body } = await service.request('GET', `/v1/kites/${id}`);
      expect([status, body]).toEqual([404, { code: 'not_found', message: 'Not Found', status: 404 }]);
    }
    const form = new FormData();
    form.set('picture', new Blob(['12345']), 'kite.png');
    const headers = { authorization: `Bearer ${service.key}` };
    const sent = await fetch(`${service.url}/v1/kites/pictures`, { method: 'POST', body: form, headers });
    expect([sent.status, await sent.json()]).toEqual([201, { size: 5 }]);
  });

  it.each([
    ['a filter that sends a text', '16', 'The kite is tangled.'],
    ['sendStatus()', 'written/status', 'Not Found'],
  ])('has errors written as text sent as Error bodies: %s', async (_, path, message) => {
    const { status, body } = await service.request('GET', `/v1/kites/${path}`);
    expect([status, body]).toEqual([404, { code: 'not_found', message, status: 404 }]);
  });

  it('has its own error page sent unchanged', async () => {
    const headers = { authorization: `Bearer ${service.key}` };
    const page = await fetch(`${service.url}/v1/kites/written/page`, { headers });
    expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([
      404,
      'text/html; charset=utf-8',
      '<p>No kite</p>',
    ]);
  });

  it.each([
    'page=0x10',
    'page=1e3',
    'page=%20',
    'page=',
    'page=abc',
    'page=NaN',
    'page=1&page=2',
    'red=zzz',
    'red=',
  ])('has its pipes refuse what they refuse in Nest: %s', async (query) => {
    expect((await service.request('GET', `/v1/kites/tails/longest?${query}`)).status).toBe(400);
  });

  it.each([
    ['', { page: 1, red: false }],
    ['?page=-12&red=true', { page: -12, red: true }],
    ['?page=007&red=false', { page: 7, red: false }],
  ])('has its pipes read what they read in Nest: %s', async (query, read) => {
    expect((await service.request('GET', `/v1/kites/tails/longest${query}`)).body).toEqual(read);
  });

  it('has its guard replaced in a test', async () => {
    const refusing = await openForTest({
      modules: [KitesModule],
      override: (builder) => builder.overrideProvider(WindGuard).useValue({ canActivate: () => false }),
    });
    const headers = { authorization: `Bearer ${refusing.key}` };
    expect((await fetch(`${refusing.url}/v1/kites/1`, { headers })).status).toBe(403);
  });
});
