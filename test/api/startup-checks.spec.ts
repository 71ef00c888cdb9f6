import {
  Body,
  Controller,
  Delete,
  Get,
  Head,
  type INestApplication,
  Injectable,
  Logger,
  Module,
  Param,
  Patch,
  Post,
  Put,
  Query,
  Res,
  Scope,
  Sse,
  type Type,
  UseGuards,
  VersioningType,
} from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ApiProperty, IntersectionType, PartialType, PickType } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { SkipThrottle, Throttle, ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Expose, Transform, Type as Nested } from 'class-transformer';
import { IsInt, IsString, ValidateNested } from 'class-validator';
import { DataSource, EntitySchema } from 'typeorm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AppModule } from '../../src/root.module.js';
import { setupApp } from '../../src/app.setup.js';
import { Public, RequireScopes } from '../../src/auth/auth.decorators.js';
import { Cached } from '../../src/http/caching/cached.decorator.js';
import { openDataSource } from '../../src/database/data-source.js';
import { migrate, schemaDifference } from '../../src/database/schema.js';
import { Deprecated } from '../../src/http/deprecation/deprecated.decorator.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { Enum, Int64, Integer, StringList, Text, Uuid } from '../../src/http/validation/fields.js';
import { Filter as Filtering, Sort } from '../../src/http/paging/selection.decorators.js';
import { Job } from '../../src/events/jobs/job.decorator.js';
import { PageQuery } from '../../src/http/paging/pager.js';
import { application } from '../support/application.js';
import { Consumes } from '../../src/http/body/consumes.decorator.js';
import { PETS_SCOPES } from '../support/pets/pets.scopes.js';
import { TestService } from '../kit/test-service.js';
import { openForTest } from '../support/opened.js';
import { databaseOfTest } from '../support/service-process.js';
import { described } from '../support/described.js';

/** A controller with one handler, `WrongController.handle`, and these decorators. */
function handlerWith(decorators: readonly MethodDecorator[], path = 'wrong'): Type {
  class WrongController {
    handle(): object {
      return {};
    }
  }
  return controllerOf(WrongController, decorators, path);
}

/** Applies decorators as the compiler does: the last one first. */
function controllerOf(controller: Type, decorators: readonly MethodDecorator[], path: string): Type {
  const prototype = controller.prototype as object;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, 'handle') as PropertyDescriptor;
  for (const decorator of decorators.toReversed()) decorator(prototype, 'handle', descriptor);
  Object.defineProperty(prototype, 'handle', descriptor);
  Controller({ path, version: '1' })(controller);
  return controller;
}

function moduleOf(classes: Type[]): Type {
  const controllers = classes.filter((one) => Reflect.hasMetadata(PATH_METADATA, one));
  @Module({ controllers, providers: classes.filter((one) => !controllers.includes(one)) })
  class WrongModule {}
  return WrongModule;
}

class IdParams {
  @Int64()
  id!: bigint;
}

class Unfiltered extends PageQuery {
  @Filtering()
  name?: string;
}

class Renamed {
  @IsString()
  @Expose({ name: 'first_name' })
  firstName!: string;
}

class Documented {
  @Text({ maxLength: 9 })
  @ApiProperty({ name: 'first_name' })
  firstName!: string;
}

class OuterOfRenamed {
  @ValidateNested()
  @Nested(() => Renamed)
  inner!: Renamed;
}

class Line {
  @Integer({ minimum: 1, maximum: 9 })
  count!: number;
}

class DocumentedLines {
  @ApiProperty({ type: [Line] })
  @ValidateNested({ each: true })
  lines!: Line[];
}

class OneLine {
  @ValidateNested()
  line!: Line;
}

class PlainLines {
  @ValidateNested({ each: true })
  lines!: Line[];
}

class OuterOfLines {
  @ValidateNested()
  @Nested(() => PlainLines)
  inner!: PlainLines;
}

/** Its transformation knows the class. */
class TransformedLines {
  @ValidateNested()
  @Transform(({ value }: { value: object }) => Object.assign(new Line(), value))
  line!: Line;
}

class SizedToy {
  @Text({ maxLength: 9 })
  name!: string;

  @Integer({ minimum: 1, maximum: 9, default: 1 })
  size!: number;
}

class Initialized {
  @IsInt()
  count = 1;
}

/** A controller with one handler, and what reads its path, query or body. */
function reading(path: string, how: MethodDecorator, parameter: ParameterDecorator, type: unknown): Type {
  class WrongController {
    handle(_: unknown): object {
      return {};
    }
  }
  parameter(WrongController.prototype, 'handle', 0);
  Reflect.defineMetadata('design:paramtypes', [type], WrongController.prototype, 'handle');
  return controllerOf(WrongController, [how, ...right(path)], path);
}

interface Filter {
  readonly name?: string;
}

/** A class without declared fields. */
class Bare {
  name!: string;
}

@Controller({ path: 'bare', version: '1' })
@RequireScopes()
class BareController {
  @Post()
  @described('bareBody')
  body(@Body() _: Bare): object {
    return {};
  }

  @Get()
  query(@Query() _: Filter): object {
    return {};
  }
}

@Controller({ path: 'plain', version: '1' })
class PlainController {
  @Post()
  add(): object {
    return {};
  }

  @Get()
  list(): object {
    return {};
  }

  @Delete()
  @Public()
  clear(): void {}

  @Put()
  @RequireScopes()
  replace(): void {}
}

@Controller({ path: 'handmade', version: '1' })
@RequireScopes()
class HandmadeController {
  @Post()
  @Idempotent()
  @described('handmade')
  add(@Res() _: object): void {}
}

@Controller({ path: 'by-host', version: '1', host: 'a.example' })
@RequireScopes()
class CachedByHostController {
  @Get()
  @Cached()
  @described('byHost')
  handle(): object {
    return {};
  }
}

@Injectable({ scope: Scope.REQUEST })
class OfRequest {}

@Controller({ path: 'by-caller', version: '1' })
@RequireScopes()
class CachedByCallerController {
  constructor(readonly request: OfRequest) {}

  @Get()
  @Cached()
  @described('byCaller')
  handle(): object {
    return {};
  }
}

@Controller({ path: 'misspelt', version: '1' })
@Throttle({ Minute: { limit: 1, ttl: 60_000 } })
@RequireScopes()
class MisspeltController {
  @Get()
  @described('misspelt')
  handle(): object {
    return {};
  }
}

@Injectable()
class OwnThrottlerGuard extends ThrottlerGuard {}

@Controller({ path: 'guarded', version: '1' })
@UseGuards(OwnThrottlerGuard)
@RequireScopes()
class GuardedController {
  @Get()
  handle(): object {
    return {};
  }
}

@WebSocketGateway({ path: '/v1/closed' })
class ClosedGateway {}

@WebSocketGateway({ path: '/v1/scoped' })
@Public()
class ScopedGateway {
  @SubscribeMessage('clear')
  @RequireScopes(PETS_SCOPES.write)
  clear(): void {}
}

const UNVALIDATED = (decorator: string) =>
  `WrongController.handle: ${decorator}, its parameter 1, is not validated`;
const right = (id = 'right') => [described(id), RequireScopes()];

/** What the start says about a module: its error, and its warnings. */
async function started(
  module: Type,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ faults: string; warnings: string[] }> {
  const warned = vi.spyOn(Logger.prototype, 'warn');
  onTestFinished(() => warned.mockRestore());
  const faults = await application({ modules: [module], environment }).then(
    () => '',
    (error: Error) => error.message,
  );
  // Not those of a busy machine.
  const ofStart = warned.mock.contexts.map((logger) => (logger as { context?: string }).context === 'Start');
  return { faults, warnings: warned.mock.calls.map(([line]) => String(line)).filter((_, at) => ofStart[at]) };
}

describe('the service as it is', () => {
  it('starts without an error and without a warning, also with declared access', async () => {
    const open = handlerWith([Get(), described('public'), Public()], 'public');
    const ofAnyKey = handlerWith([Get(), described('anyKey'), RequireScopes()], 'any-key');
    const nested = reading('nested', Post(), Body(), TransformedLines);
    expect(await started(moduleOf([open, ofAnyKey, nested]))).toEqual({ faults: '', warnings: [] });
    const inTwoModules = moduleOf([]);
    Module({ imports: [moduleOf([ofAnyKey])], controllers: [ofAnyKey] })(inTwoModules);
    expect(await started(inTwoModules)).toEqual({ faults: '', warnings: [] });
  });

  it('starts with a guard that is created for each request and also runs before a cached response', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class OfRequestGuard {
      canActivate = () => true;
    }
    const ofAll = moduleOf([]);
    Module({ providers: [{ provide: APP_GUARD, useClass: OfRequestGuard }] })(ofAll);
    expect(await started(ofAll)).toEqual({ faults: '', warnings: [] });
  });

  it('has a migration for everything that its entities declare', async () => {
    const service = await openForTest();
    expect(await schemaDifference(service.app.get(DataSource))).toEqual([]);
  });
});

describe('a start', () => {
  const FAULTY: readonly (readonly [string, Type[], [string]])[] = [
    [
      '@Cached() on POST',
      [handlerWith([Post(), Cached(), ...right('cached')], 'cached')],
      ['WrongController.handle: @Cached() works only for GET'],
    ],
    [
      '@Cached() by host',
      [CachedByHostController],
      [
        'CachedByHostController.handle: @Cached() uses only the path and query as the key, but its controller also depends on the host',
      ],
    ],
    [
      '@Cached() of a controller that knows the request',
      [CachedByCallerController, OfRequest],
      ['CachedByCallerController.handle: it is @Cached(), but its controller is created for each request'],
    ],
    [
      '@Idempotent() for everybody',
      [handlerWith([Post(), Idempotent(), described('open'), Public()], 'open')],
      [
        'WrongController.handle: @Idempotent() stores the response for its client, and a @Public() operation has none',
      ],
    ],
    [
      '@Idempotent() on GET',
      [handlerWith([Get(), Idempotent(), ...right('once')], 'once')],
      ['WrongController.handle: @Idempotent() is for operations that change'],
    ],
    [
      '@Idempotent() with a response by hand',
      [HandmadeController],
      ['HandmadeController.add: @Idempotent() stores the result of the handler'],
    ],
    [
      '@Idempotent() with a body that is read later',
      [handlerWith([Post(), Idempotent(), Consumes('multipart/form-data'), ...right('later')], 'later')],
      ['it is @Idempotent(), but its body of multipart/form-data is not read before it runs'],
    ],
    [
      'one operation id twice',
      [handlerWith([Get(), ...right()], 'twice'), handlerWith([Get(), ...right()], 'other')],
      ['WrongController.handle: WrongController.handle also has the operation id "right".'],
    ],
    [
      'the id of an operation of the service',
      [handlerWith([Get(), ...right('listPets')], 'pets-too')],
      ['also has the operation id "listPets".'],
    ],
    [
      'a path parameter of another name in a class',
      [reading('toys/:toyId', Get(), Param(), IdParams)],
      ['it reads the path parameter "id", which is not in its path toys/:toyId'],
    ],
    [
      '@Throttle() as Nest documents it',
      [handlerWith([Get(), Throttle({ default: { limit: 1, ttl: 60_000 } }), ...right()], 'limited')],
      ['WrongController.handle: @Throttle() names "default", but the windows are minute and day.'],
    ],
    [
      '@SkipThrottle() by a misspelt name',
      [handlerWith([Get(), SkipThrottle({ minutes: true }), ...right()], 'skipped')],
      ['WrongController.handle: @SkipThrottle() names "minutes"'],
    ],
    [
      '@Throttle() by a misspelt name on a class',
      [MisspeltController],
      ['MisspeltController: @Throttle() names'],
    ],
    [
      'a ttl of @Throttle() in seconds',
      [handlerWith([Get(), Throttle({ minute: { limit: 1, ttl: 60 } }), ...right()], 'short')],
      [
        'WrongController.handle: ttl of @Throttle() is 60. Write whole seconds in milliseconds, such as 60_000.',
      ],
    ],
    [
      'a limit of @Throttle() that admits nothing',
      [handlerWith([Get(), Throttle({ minute: { limit: 0, ttl: 60_000 } }), ...right()], 'closed')],
      ['WrongController.handle: limit of @Throttle() is 0. Write a whole number from 1.'],
    ],
    [
      'an option of @Throttle() that has no effect',
      [
        handlerWith(
          [Get(), Throttle({ minute: { limit: 1, ttl: 60_000, blockDuration: 1 } }), ...right()],
          'blocked',
        ),
      ],
      ['WrongController.handle: blockDuration of @Throttle() is not supported. Remove it.'],
    ],
    [
      '@Throttle() and @SkipThrottle() of one window',
      [handlerWith([Get(), SkipThrottle(), Throttle({ minute: { limit: 1 } }), ...right()], 'torn')],
      [
        'WrongController.handle: @Throttle() limits minute, but @SkipThrottle() on the same method or class skips it.',
      ],
    ],
    [
      'Nest’s ThrottlerGuard on a method',
      [handlerWith([Get(), UseGuards(ThrottlerGuard), ...right()], 'guarded')],
      ['WrongController.handle: ThrottlerGuard would count requests a second time'],
    ],
    [
      'Nest’s ThrottlerGuard on a class',
      [GuardedController],
      ['GuardedController.handle: OwnThrottlerGuard would count requests a second time'],
    ],
    [
      'a limit of the day for everybody',
      [
        handlerWith(
          [Get(), Throttle({ day: { limit: 1, ttl: 86_400_000 } }), Public(), described('daily')],
          'daily',
        ),
      ],
      [
        'WrongController.handle: @Throttle() sets a daily limit, but requests to a @Public() operation count for an address',
      ],
    ],
    [
      'a gateway that is not declared open',
      [ClosedGateway],
      [
        'ClosedGateway: keys, scopes and quotas do not apply to a gateway. Declare it @Public(), without @RequireScopes(), ' +
          'or send server-sent events with @Sse(), which need a key.',
      ],
    ],
    [
      'a gateway with a scope, which nobody would check',
      [ScopedGateway],
      ['ScopedGateway: keys, scopes and quotas do not apply to a gateway.'],
    ],
    [
      'a job of a controller',
      [
        handlerWith(
          [Get(), Job({ name: 'toys.sweep', every: 60_000 }) as MethodDecorator, ...right()],
          'job',
        ),
      ],
      ['WrongController.handle: Job "toys.sweep" never runs, because its class is a controller.'],
    ],
    [
      'a filter that is no field',
      [reading('filtered', Get(), Query(), Unfiltered)],
      ['Unfiltered.name: @Filter() has no effect without a decorator of a field. Add one, such as @Text().'],
    ],
    [
      'a renamed field of a body',
      [reading('renamed', Post(), Body(), Renamed)],
      [
        "Renamed.firstName: @Expose({ name: 'first_name' }) has no effect on what is validated. Rename the property",
      ],
    ],
    [
      'a field of a query that is documented by another name',
      [reading('documented', Get(), Query(), Documented)],
      ["Documented.firstName: @ApiProperty({ name: 'first_name' }) has no effect on what is validated."],
    ],
    [
      'a renamed field within a body',
      [reading('outer', Post(), Body(), OuterOfRenamed)],
      ['Renamed.firstName: @Expose('],
    ],
    [
      'a renamed member of a response',
      [handlerWith([Get(), described('renamed', { type: Renamed }), RequireScopes()], 'shown')],
      [
        "Renamed.firstName: @Expose({ name: 'first_name' }) has no effect on a response. Use @ApiProperty({ name:",
      ],
    ],
    ...(
      [
        [DocumentedLines, 'lines', '@Type(() => Line)'],
        [PartialType(DocumentedLines), 'lines', '@Type(() => Line)'],
        [OneLine, 'line', '@Type(() => Line)'],
        [PlainLines, 'lines', '@Type() with their class'],
      ] as const
    ).map(([type, field, added], at): [string, Type[], [string]] => [
      `nested objects of an unknown class (${at})`,
      [reading('nested', Post(), Body(), type)],
      [
        `${type.name}.${field}: @ValidateNested() refuses all objects whose class is unknown. Add ${added}, from class-transformer.`,
      ],
    ]),
    [
      'nested objects of an unknown class within a body',
      [reading('outer', Post(), Body(), OuterOfLines)],
      ['PlainLines.lines: @ValidateNested() refuses all objects whose class is unknown.'],
    ],
    ...[PartialType(SizedToy), PickType(PartialType(SizedToy), ['size', 'name'])].map(
      (type, at): [string, Type[], [string]] => [
        `a default in a PATCH (${at})`,
        [reading('patched', Patch(), Body(), type)],
        [
          `${type.name}.size: its default would be set by each PATCH that does not send it. Extend MergePatch()`,
        ],
      ],
    ),
    [
      'an initializer in a PATCH',
      [reading('patched', Patch(), Body(), IntersectionType(PartialType(Initialized), IdParams))],
      ['count: its default would be set by each PATCH that does not send it.'],
    ],
    [
      'events of a declared class',
      [handlerWith([Sse(), described('events', { type: IdParams }), RequireScopes()], 'events')],
      [
        'WrongController.handle: it is @Sse(), whose events are not reduced to the members that IdParams declares.',
      ],
    ],
    // As the compiler writes an interface, a class that is imported by `import { type … }`, and a list.
    ['a body of no class', [reading('wrong', Post(), Body(), Object)], [UNVALIDATED('@Body()')]],
    ['a body of a list', [reading('wrong', Post(), Body(), Array)], [UNVALIDATED('@Body()')]],
    ['a path of a type', [reading('wrong/:id', Get(), Param(), Function)], [UNVALIDATED('@Param()')]],
  ];

  it.each(FAULTY)('fails with %s, in one line', async (_, controllers, [line]) => {
    const { faults } = await started(moduleOf(controllers));
    expect(faults).toContain(line);
    expect(faults).not.toContain('\n');
  });

  it('warns of what may be meant', async () => {
    const unguarded = handlerWith([Get(), described('open')], 'open');
    const unread = handlerWith([Get(':shopId'), Public(), described('unread')], 'shops');
    const { faults, warnings } = await started(
      moduleOf([unguarded, unread, BareController, PlainController]),
    );
    expect(faults).toBe('');
    for (const line of [
      'WrongController.handle: nothing reads or validates the path parameter "shopId"',
      'WrongController.handle: every valid key may call it',
      'BareController.body: @Body() is not validated',
      'BareController.query: @Query() is not validated',
      'PlainController.add: every valid key may call it',
    ])
      expect([line, warnings.filter((warning) => warning.startsWith(line)).length]).toEqual([line, 1]);
  });

  it('in production refuses a plain handler that changes something and that every key may call', async () => {
    const environment = { NODE_ENV: 'production' };
    const { faults, warnings } = await started(moduleOf([PlainController]), environment);
    expect(faults).toMatch(/^PlainController\.add: every valid key may call it\. Add @RequireScopes/);
    expect(warnings).toEqual([]);
  });
});

describe('entities and migrations', () => {
  /** A file whose schema was changed past the migrations. */
  async function incomplete(...changes: string[]): Promise<string> {
    const databaseUrl = await databaseOfTest();
    const database = await openDataSource({ databaseUrl });
    await migrate(database);
    for (const change of changes) await database.query(change);
    await database.destroy();
    return databaseUrl;
  }

  it.each([
    ['an index', 'DROP INDEX pets_status_id', 'CREATE INDEX "pets_status_id"'],
    ['a column', 'ALTER TABLE pets DROP COLUMN category_id', '\\(pets\\.category_id\\)'],
  ])('that differ by %s stop a start', async (_, change, named) => {
    const DATABASE_URL = await incomplete(change);
    await expect(TestService.open({ environment: { DATABASE_URL } })).rejects.toThrow(
      new RegExp(`The database lacks tables or columns that its migrations create .*${named}`, 's'),
    );
  });

  it('of a newer build that only expands the schema do not stop a start', async () => {
    const newer = [
      `INSERT INTO schema_migrations (timestamp, name) VALUES (1796000000000, 'Toys1796000000000')`,
      `INSERT INTO schema_expansions VALUES ('Toys1796000000000')`,
      'ALTER TABLE clients ADD COLUMN shelf varchar(10)',
      'CREATE INDEX clients_shelf ON clients (shelf)',
    ];
    const service = await openForTest({ environment: { DATABASE_URL: await incomplete(...newer) } });
    expect((await service.request('GET', '/v1/pets')).status).toBe(200);
  });
});

it.each([
  ['a class without @Entity()', class Kite {}, 'Kite'],
  ['an EntitySchema', new EntitySchema<object>({ name: 'Kites', columns: {} }), 'Kites'],
])('a repository of %s stops the start', async (_, entity, name) => {
  @Module({ imports: [TypeOrmModule.forFeature([entity])] })
  class KitesModule {}
  expect((await started(KitesModule)).faults).toContain(
    `TypeOrmModule.forFeature(): ${name} is not a class with @Entity(). Decorate the class`,
  );
});

describe('the paths of the service', () => {
  it.each<[string, (app: INestApplication) => unknown, RegExp]>([
    [
      'setGlobalPrefix()',
      (app) => app.setGlobalPrefix('api'),
      /^setGlobalPrefix\('api'\): .*PUBLIC_BASE_URL/,
    ],
    [
      'setGlobalPrefix() with exceptions',
      (app) => app.setGlobalPrefix('api', { exclude: ['health/live', 'docs'] }),
      /^setGlobalPrefix\('api'\): .*RouterModule/,
    ],
    [
      'other versions',
      (app) => app.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version' }),
      /^enableVersioning\(\): the service has already enabled versions in paths/,
    ],
    [
      'a default version',
      (app) => app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' }),
      /^enableVersioning\(\): /,
    ],
  ])('stop the start when they are changed by %s', async (_, prepare, line) => {
    await expect(application({ prepare })).rejects.toThrow(line);
    // The same applies to changes before setupApp().
    const testing = await Test.createTestingModule({ imports: [AppModule] }).compile();
    const app = testing.createNestApplication({ logger: false });
    onTestFinished(() => app.close());
    prepare(app);
    await expect(setupApp(app).init()).rejects.toThrow(line);
  });

  it('stop the start of an application that was not set up', async () => {
    const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
    onTestFinished(() => app.close());
    await expect(app.listen(0)).rejects.toThrow(/^NestFactory\.create\(AppModule\): .* Call setupApp\(app\)/);
  });
});

describe('routes that hide each other', () => {
  /** Two controllers with one public GET each, in this order. */
  function routes(first: string, second: string, how = Get, options: object = {}): Type {
    @Controller({ path: 'kites', version: '1', ...options })
    @Public()
    class FirstController {
      @Get(first)
      first(): object {
        return {};
      }
    }
    @Controller({ path: 'kites', version: '1' })
    @Public()
    class SecondController {
      @how(second)
      second(): object {
        return {};
      }
    }
    return moduleOf([FirstController, SecondController]);
  }

  it.each([
    [':id', 'best', Get],
    [':id', ':name', Get],
    ['best', 'best', Get],
    ['*path', 'best/of/all', Get],
    [':id', ':name.json', Get],
    ['best{/:id}', 'best/:name', Get],
    [':id', 'best', Head],
  ])('stop the start, which names both: %s before %s', async (first, second, how) => {
    const { faults } = await started(routes(first, second, how));
    const method = how === Head ? 'HEAD' : 'GET';
    expect(faults).toBe(
      `SecondController.second: ${method} /v1/kites/${second} is never reached, because GET /v1/kites/${first} of ` +
        'FirstController.first is registered before it. Declare it, or import its module, first; or change one of the paths.',
    );
  });

  it.each([
    ['best', ':id', Get],
    ['best/of', '*path', Get],
    [':id', 'best/:id', Get],
    ['a:id', ':name', Get],
    ['best/:id', 'best{/:id}', Get],
    [':id', 'best', Post],
  ])('do not clash if both are reachable: %s before %s', async (first, second, how) => {
    expect((await started(routes(first, second, how))).faults).toBe('');
  });

  it('do not clash on two hosts', async () => {
    expect((await started(routes('best', 'best', Get, { host: 'a.example' }))).faults).toBe('');
  });

  it('are found in one class and over modules, with those of the service', async () => {
    @Controller({ path: 'pets', version: '1' })
    @Public()
    class PetsTooController {
      @Get('best')
      best(): object {
        return {};
      }
    }
    expect((await started(moduleOf([PetsTooController]))).faults).toContain(
      'PetsTooController.best: GET /v1/pets/best is never reached, because GET /v1/pets/:petId of PetsController.getPet',
    );
  });
});

const THROTTLERS = { throttlers: [{ ttl: 60_000, limit: 10 }] };

it.each([
  ['module', { imports: [ThrottlerModule.forRoot(THROTTLERS)] }, /^ThrottlerModule: the service counts/],
  ['guard', { providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }] }, /^ThrottlerGuard would count/],
  [
    'guard by its class',
    { providers: [OwnThrottlerGuard, { provide: APP_GUARD, useExisting: OwnThrottlerGuard }] },
    /^OwnThrottlerGuard would count/,
  ],
  [
    'guard of each request',
    { providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard, scope: Scope.REQUEST }] },
    /^ThrottlerGuard would count/,
  ],
])('a %s of @nestjs/throttler, as Nest documents it, stops the start', async (_, metadata, line) => {
  @Module(metadata)
  class LimitsModule {}
  expect((await started(LimitsModule)).faults).toMatch(line);
});

it('a second DataSource without a name stops the start', async () => {
  @Module({ imports: [TypeOrmModule.forRoot({ type: 'sqlite', database: ':memory:' })] })
  class OtherModule {}
  expect((await started(OtherModule)).faults).toMatch(
    /^TypeOrmModule\.forRoot\(\) without a name would replace the DataSource of the service\. Give it a name/,
  );
});

it('a sunset before its deprecation stops the start', () => {
  const deprecated = Deprecated({ since: 2, sunset: 1, replacement: 'x', link: '/' });
  expect(() => handlerWith([Get(), deprecated])).toThrow(
    /^WrongController\.handle: the sunset of @Deprecated\(\) is before its since/,
  );
});

describe('a default that its field refuses', () => {
  it.each([
    [
      'an enumeration',
      () => Enum({ enumName: 'Size', values: ['s', 'm'], default: 'l' as 's' }),
      'This must be one of s, m.',
    ],
  ])('of %s stops the start', (_, declare, reason) => {
    class Sized {
      size = 1;
    }
    expect(() => declare()(Sized.prototype, 'size')).toThrow(
      new RegExp(`^Sized.size: it has the default .*${reason}$`, 'm'),
    );
  });
});

describe('a field whose property has another type', () => {
  it.each<[string, () => PropertyDecorator, unknown, string]>([
    [
      '@Text() on a number',
      () => Text({ maxLength: 9 }),
      Number,
      'its type is number, but @Text() makes it string',
    ],
    ['@Int64() on a number', () => Int64(), Number, 'its type is number, but @Int64() makes it bigint'],
    [
      'a list on a string',
      () => Uuid({ list: true }),
      String,
      'its type is string, but @Uuid() makes it Array',
    ],
  ])('stops the start: %s', (_, decorator, type, line) => {
    class Toy {}
    Reflect.defineMetadata('design:type', type, Toy.prototype, 'name');
    expect(() => decorator()(Toy.prototype, 'name')).toThrow(`Toy.name: ${line}. Change one of them.`);
  });
});

describe('a field that cannot be meant', () => {
  it.each<[string, () => PropertyDecorator[], unknown, string]>([
    [
      'a prefix of a number',
      () => [Filtering({ comparison: 'prefix' })],
      Number,
      '"prefix" is only for strings. Use another comparison.',
    ],
    [
      'a range of a list',
      () => [Filtering({ comparison: '>=' }), Int64({ list: true })],
      Array,
      'a list supports only "=", not ">=". Change one of them.',
    ],
    [
      'bounds that cross',
      () => [Integer({ minimum: 5, maximum: 1 })],
      Number,
      'its maximum 1 is below 5, so that no value fits.',
    ],
    [
      'a text without a character',
      () => [Text({ maxLength: 0 })],
      String,
      'its maxLength 0 is below 1, so that no value fits.',
    ],
    [
      'no string',
      () => [StringList({ maxItems: 0 })],
      Array,
      'its maxItems 0 is below 1, so that no value fits.',
    ],
    [
      'an enumeration of nothing',
      () => [Enum({ enumName: 'Size', values: [] })],
      String,
      'it allows no value. Name at least one.',
    ],
    [
      'a value twice, in a list',
      () => [Enum({ enumName: 'Size', values: ['s', 's'], list: true })],
      Array,
      'it allows "s" twice. Remove one of them.',
    ],
    ['an order by nothing', () => [Sort({ by: [] })], String, 'it allows no value. Name at least one.'],
    [
      'two decorators of a field',
      () => [Text({ maxLength: 9 }), Enum({ enumName: 'Size', values: ['s'] })],
      String,
      'it has two decorators of a field. Remove one of them.',
    ],
  ])('stops the start: %s', (_, decorators, type, line) => {
    class Toy {}
    Reflect.defineMetadata('design:type', type, Toy.prototype, 'name');
    expect(() =>
      decorators()
        .toReversed()
        .forEach((one) => one(Toy.prototype, 'name')),
    ).toThrow(`Toy.name: ${line}`);
  });
});
