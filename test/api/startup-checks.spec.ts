import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Body,
  Controller,
  Delete,
  Get,
  Injectable,
  Logger,
  Module,
  Param,
  Post,
  Put,
  Query,
  Res,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { ApiConsumes, ApiProperty, ApiSecurity } from '@nestjs/swagger';
import { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Public, RequireScopes } from '../../src/auth/auth.decorators.js';
import { Cached } from '../../src/http/caching/cached.decorator.js';
import { openDataSource } from '../../src/database/data-source.js';
import { migrate } from '../../src/database/schema.js';
import { schemaDifference } from '../../src/database/schema-difference.js';
import { Deprecated } from '../../src/http/deprecation/deprecated.decorator.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import {
  Duration,
  Enum,
  Flag,
  Instant,
  Int64,
  Integer,
  Names,
  Text,
  Uuid,
} from '../../src/http/validation/fields.js';
import { Sort } from '../../src/http/paging/selection.decorators.js';
import { Operation } from '../../src/http/operation.decorator.js';
import { application } from '../support/application.js';
import { Consumes } from '../../src/http/body/consumes.decorator.js';
import { TestService } from '../kit/test-service.js';

/** Declares no member. */
class Anything {}

const declared = (id: string, type: Type = Anything) =>
  Operation({
    id,
    summary: id,
    description: 'For a test.',
    answers: { status: 200, description: 'Whatever', type },
  });

/** A controller with one handler, `WrongController.answer`, and these decorators. */
function handlerWith(decorators: readonly MethodDecorator[], path = 'wrong'): Type {
  class WrongController {
    answer(): object {
      return {};
    }
  }
  return controllerOf(WrongController, decorators, path);
}

/** Applies decorators as the compiler does: the last one first. */
function controllerOf(controller: Type, decorators: readonly MethodDecorator[], path: string): Type {
  const prototype = controller.prototype as object;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, 'answer') as PropertyDescriptor;
  for (const decorator of decorators.toReversed()) decorator(prototype, 'answer', descriptor);
  Object.defineProperty(prototype, 'answer', descriptor);
  Controller({ path, version: '1' })(controller);
  return controller;
}

function moduleOf({ controllers = [], providers = [] }: { controllers?: Type[]; providers?: Type[] }): Type {
  @Module({ controllers, providers })
  class WrongModule {}
  return WrongModule;
}

class IdParams {
  @Int64()
  id!: bigint;
}

class ToyIdParams {
  @Int64()
  toyId!: bigint;
}

@Controller({ path: 'toys', version: '1' })
@RequireScopes()
class OtherNameController {
  @Get(':toyId')
  @declared('getToy')
  get(@Param() _: IdParams): object {
    return {};
  }

  @Get('by/:name')
  @declared('getToyByName')
  byName(@Param('nmae') _: string): object {
    return {};
  }

  @Get('of/:owner')
  @declared('getToyOfOwner')
  ofOwner(): object {
    return {};
  }

  @Get('right/:toyId')
  @declared('getRightToy')
  right(@Param() _: ToyIdParams): object {
    return {};
  }
}

interface Filter {
  readonly name?: string;
}

@Controller({ path: 'unvalidated', version: '1' })
@RequireScopes()
class UnvalidatedController {
  @Post()
  @declared('unvalidatedBody')
  body(@Body() _: object): object {
    return {};
  }
}

class WithBytes {
  @ApiProperty({ type: 'string' })
  bytes!: Buffer;
}

@Controller({ path: 'members', version: '1' })
@RequireScopes()
class MembersController {
  @Get()
  @declared('members', WithBytes)
  get(): object {
    return {};
  }
}

/** A class without declared fields. */
class Bare {
  name!: string;
}

@Controller({ path: 'bare', version: '1' })
@RequireScopes()
class BareController {
  @Post()
  @declared('bareBody')
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
  @declared('handmade')
  add(@Res() _: object): void {}
}

@Injectable()
class Listening {
  @OnEvent('pet.craeted')
  onCreated(): void {}
}

const NOBODYS = { name: 'toys:raed' };
const REQUIRED_SCOPES = 'petstore:scopes';
const right = [declared('right'), RequireScopes()];

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
  return { faults, warnings: warned.mock.calls.map(([line]) => String(line)) };
}

describe('the service as it is', () => {
  it('starts without a fault and without a warning', async () => {
    expect(await started(moduleOf({}))).toEqual({ faults: '', warnings: [] });
  });

  it('has a migration for whatever its entities declare', async () => {
    const service = await TestService.open();
    onTestFinished(() => service.close());
    expect(await schemaDifference(service.app.get(DataSource))).toEqual({ up: [], down: [] });
  });
});

describe('a start', () => {
  it.each<[string, Type[], string[]]>([
    [
      '@Cached() on POST',
      [handlerWith([Post(), Cached(), ...right])],
      ['WrongController.answer: @Cached() works for GET alone'],
    ],
    [
      '@Idempotent() on GET',
      [handlerWith([Get(), Idempotent(), ...right])],
      ['WrongController.answer: @Idempotent() is for operations that change'],
    ],
    [
      '@Idempotent() with a response by hand',
      [HandmadeController],
      ['HandmadeController.add: @Idempotent() keeps what the handler answers'],
    ],
    [
      'one operation id twice',
      [handlerWith([Get(), ...right]), handlerWith([Get(), ...right], 'other')],
      ['WrongController.answer: WrongController.answer has the operation id "right", too'],
    ],
    [
      'the id of an operation of the service',
      [handlerWith([Get(), declared('listPets'), RequireScopes()])],
      ['has the operation id "listPets", too'],
    ],
    [
      'a scope that nobody declares',
      [handlerWith([Get(), declared('scoped'), SetMetadata(REQUIRED_SCOPES, [NOBODYS.name])])],
      ['no key can hold the scope "toys:raed"'],
    ],
    [
      'a body that is refused',
      [handlerWith([Post(), ApiConsumes('multipart/form-data'), ...right])],
      ['promises to read multipart/form-data, which is answered 415'],
    ],
    [
      'a body of another type than it takes',
      [handlerWith([Post(), Consumes('image/png'), ApiConsumes('image/gif'), ...right])],
      ['promises to read image/gif, which is answered 415'],
    ],
    [
      'a sunset before its deprecation',
      [handlerWith([Get(), Deprecated({ since: 2, sunset: 1, replacement: 'x', link: '/' }), ...right])],
      ['has a sunset before its since'],
    ],
    [
      'path parameters of other names',
      [OtherNameController],
      [
        'OtherNameController.get: it reads the path parameter "id", which is not in its path toys/:toyId',
        'OtherNameController.byName: it reads the path parameter "nmae"',
      ],
    ],
    ['members that JSON cannot show', [MembersController], ['WithBytes.bytes: JSON cannot show bytes']],
    [
      'a body whose class is imported as a type alone',
      [UnvalidatedController],
      ['UnvalidatedController.body: @Body(), its parameter 1, is not validated'],
    ],
  ])('fails at %s', async (_, controllers, lines) => {
    const { faults } = await started(moduleOf({ controllers }));
    expect(faults.split('\n')[0]).toBe('What the modules declare cannot work:');
    for (const line of lines) expect(faults).toContain(line);
    // Nothing else is wrong.
    expect(faults.split('\n')).toHaveLength(1 + lines.length);
  });

  it('names all faults of all modules at once', async () => {
    const { faults } = await started(
      moduleOf({ controllers: [MembersController, OtherNameController, HandmadeController] }),
    );
    expect(faults.split('\n')).toHaveLength(5);
  });

  it.each<[string, { controllers?: Type[]; providers?: Type[] }, string]>([
    [
      'an operation that every key may call',
      { controllers: [handlerWith([Get(), declared('open')])] },
      'WrongController.answer: every valid key may call it',
    ],
    [
      'a security scheme that the document has not',
      { controllers: [handlerWith([Get(), ApiSecurity('baerer'), ...right])] },
      'WrongController.answer: the document declares no security scheme "baerer"',
    ],
    [
      'a body of a class without fields',
      { controllers: [BareController] },
      'BareController.body: @Body() is not validated',
    ],
    [
      'a query without a class, of a handler that is no operation',
      { controllers: [BareController] },
      'BareController.query: @Query() is not validated',
    ],
    [
      'a plain handler that changes something and that every key may call',
      { controllers: [PlainController] },
      'PlainController.add: every valid key may call it',
    ],
    [
      'a listener of an event that nobody declares',
      { providers: [Listening] },
      'Listening.onCreated: nobody declares the event "pet.craeted"',
    ],
  ])('warns of %s', async (_, parts, line) => {
    const { faults, warnings } = await started(moduleOf(parts));
    expect(faults).toBe('');
    expect(warnings.filter((warning) => warning.startsWith(line))).toHaveLength(1);
  });

  it('in production refuses a plain handler that changes something and that every key may call', async () => {
    const environment = { NODE_ENV: 'production' };
    const { faults, warnings } = await started(moduleOf({ controllers: [PlainController] }), environment);
    expect(faults.split('\n').slice(1)).toEqual([
      expect.stringMatching(/^PlainController\.add: every valid key may call it\. Add @RequireScopes/),
    ]);
    expect(warnings).toEqual([]);
  });

  it.each<[string, MethodDecorator[]]>([
    ['@Public()', [Get(), declared('public'), Public()]],
    ['@RequireScopes() without an argument', [Get(), declared('anyKey'), RequireScopes()]],
  ])('does not warn of an operation with %s', async (_, decorators) => {
    expect(await started(moduleOf({ controllers: [handlerWith(decorators)] }))).toEqual({
      faults: '',
      warnings: [],
    });
  });
});

describe('entities and migrations', () => {
  /** A file whose schema lacks something that an entity declares. */
  async function incomplete(change: string): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'petstore-schema-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const databaseUrl = `sqlite:${join(folder, 'petstore.sqlite')}`;
    const database = await openDataSource({ databaseUrl });
    await migrate(database);
    await database.query(change);
    await database.destroy();
    return databaseUrl;
  }

  it.each([
    ['an index', 'DROP INDEX pets_status_id', 'CREATE INDEX "pets_status_id"'],
    ['a column', 'ALTER TABLE pets DROP COLUMN category_id', '"category_id"'],
    ['a table', 'DROP TABLE pets', 'CREATE TABLE "pets"'],
  ])('that differ by %s stop a start, but in production', async (_, change, named) => {
    const DATABASE_URL = await incomplete(change);
    await expect(TestService.open({ environment: { DATABASE_URL } })).rejects.toThrow(
      new RegExp(`The database lacks what its migrations make .*${named}`, 's'),
    );
    const service = await TestService.open({ environment: { DATABASE_URL, NODE_ENV: 'production' } });
    await service.close();
  });
});

describe('a default that its field refuses', () => {
  it.each([
    [
      'an enumeration',
      () => Enum({ enumName: 'Size', values: ['s', 'm'], default: 'l' as 's' }),
      'This must be one of s, m.',
    ],
    ['an integer', () => Integer({ minimum: 1, maximum: 9, default: 10 }), 'This must be from 1 to 9.'],
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
      '@Integer() on a bigint',
      () => Integer({ minimum: 1, maximum: 9 }),
      BigInt,
      'its type is bigint, but @Integer() makes it number',
    ],
    ['@Instant() on a Date', () => Instant(), Date, 'its type is Date, but @Instant() makes it string'],
    ['@Flag() on a string', () => Flag(), String, 'its type is string, but @Flag() makes it boolean'],
    [
      '@Enum() on a number',
      () => Enum({ enumName: 'E', values: ['a'] }),
      Number,
      'its type is number, but @Enum() makes it string',
    ],
    [
      'a list on a string',
      () => Uuid({ list: true }),
      String,
      'its type is string, but @Uuid() makes it Array',
    ],
    ['@Names() on a string', () => Names(), String, 'its type is string, but @Names() makes it Array'],
    [
      '@Duration() on a string',
      () => Duration({}),
      String,
      'its type is string, but @Duration() makes it number',
    ],
    [
      '@Sort() on an array',
      () => Sort({ by: ['id'] }),
      Array,
      'its type is Array, but @Sort() makes it string',
    ],
  ])('stops the start: %s', (_, decorator, type, line) => {
    class Toy {}
    Reflect.defineMetadata('design:type', type, Toy.prototype, 'name');
    expect(() => decorator()(Toy.prototype, 'name')).toThrow(`Toy.name: ${line}. Change one of them.`);
  });

  it('is told by the compiler', () => {
    const declare = (): void => {
      class Toy {
        @Text({ maxLength: 9 })
        price!: number;

        @Text({ maxLength: 9, nullable: true, optional: true })
        note?: string | null;
      }
      void Toy;
    };
    expect(declare).toThrow(/^Toy\.price: its type is number/m);
  });
});
