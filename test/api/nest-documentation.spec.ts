import { AsyncLocalStorage } from 'node:async_hooks';
import {
  All,
  type ArgumentMetadata,
  BadGatewayException,
  BadRequestException,
  Body,
  type CallHandler,
  type CanActivate,
  ClassSerializerInterceptor,
  ConfigurableModuleBuilder,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  HttpException,
  HttpStatus,
  Inject,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestMiddleware,
  type NestModule,
  Optional,
  Param,
  ParseArrayPipe,
  ParseDatePipe,
  ParseEnumPipe,
  ParseFloatPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  type PipeTransform,
  Post,
  Query,
  Redirect,
  Render,
  RequestMethod,
  RequestTimeoutException,
  Scope,
  SerializeOptions,
  SetMetadata,
  StreamableFile,
  UploadedFile,
  UploadedFiles,
  UseGuards,
  UseInterceptors,
  ValidationPipe,
  VERSION_NEUTRAL,
  Version,
  createParamDecorator,
  forwardRef,
} from '@nestjs/common';
import {
  ContextIdFactory,
  DiscoveryModule,
  DiscoveryService,
  INQUIRER,
  LazyModuleLoader,
  ModuleRef,
  REQUEST,
  Reflector,
} from '@nestjs/core';
import { AnyFilesInterceptor, FileInterceptor, type NestExpressApplication } from '@nestjs/platform-express';
import {
  ApiBasicAuth,
  ApiConsumes,
  ApiExtraModels,
  ApiOkResponse,
  ApiProperty,
  DocumentBuilder,
  IntersectionType,
  OmitType,
  PartialType,
  PickType,
  SwaggerModule,
  getSchemaPath,
} from '@nestjs/swagger';
import { HealthCheck, HealthCheckService, HealthIndicatorService, TerminusModule } from '@nestjs/terminus';
import { Exclude, Expose, Transform } from 'class-transformer';
import { IsInt, IsNumberString, IsString } from 'class-validator';
import type { Request } from 'express';
import { type Observable, TimeoutError, catchError, map, of, throwError, timeout } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { openForAll } from '../support/opened.js';

/** What a row of a page sends, and what comes back: the body as JSON, or a header. */
type Row = [page: string, target: string, status: number, body: unknown, sent?: object | FormData];

class NewCat {
  @ApiProperty()
  @IsString()
  name!: string;

  @ApiProperty()
  @IsInt()
  age!: number;
}

@Injectable()
class CatsService {
  readonly cats: NewCat[] = [];

  constructor(@Optional() @Inject('HTTP_OPTIONS') readonly options?: object) {}
}

@Controller('cats')
@RequireScopes()
class CatsController {
  constructor(private readonly service: CatsService) {}

  @Post()
  @HttpCode(204)
  @Header('Cache-Control', 'no-store')
  create(@Body() cat: NewCat): void {
    this.service.cats.push(cat);
  }

  @Get('all')
  findAll(): Observable<object[]> {
    return of(this.service.cats);
  }

  @Get('any/*splat')
  wildcard(@Param('splat') splat: string[]): object {
    return { splat, options: this.service.options };
  }

  @Get('docs')
  @Redirect('https://docs.nestjs.com', 302)
  docs(@Query('version') version?: string): object | undefined {
    return version === '5' ? { url: 'https://docs.nestjs.com/v5/', statusCode: 301 } : undefined;
  }

  @All('every')
  every(@Query() query: Record<string, unknown>): object {
    return query;
  }

  @Get('nothing')
  nothing(): void {}
}

@Controller('failing')
class FailingController {
  @Get('object')
  object(): never {
    const error = 'This is a custom message';
    throw new HttpException({ status: HttpStatus.FORBIDDEN, error }, HttpStatus.FORBIDDEN, { cause: error });
  }

  @Get('described')
  described(): never {
    throw new BadRequestException('Something bad happened', { description: 'Some error description' });
  }
}

enum Side {
  Left = 'left',
  Right = 'right',
}

class OfNumber {
  @IsNumberString()
  id!: string;
}

/** A pipe with a dependency, as the one that loads a user by an id. */
@Injectable()
class CatByNamePipe implements PipeTransform<string> {
  constructor(private readonly service: CatsService) {}

  transform(name: string, { data }: ArgumentMetadata): object {
    return { name, data, isKnown: this.service.cats.some((cat) => cat.name === name) };
  }
}

@Controller('pipes')
@RequireScopes()
class PipesController {
  @Get('not-acceptable/:id')
  notAcceptable(
    @Param('id', new ParseIntPipe({ errorHttpStatusCode: HttpStatus.NOT_ACCEPTABLE })) id: number,
  ): number {
    return id;
  }

  @Get('uuid/:uuid')
  uuid(@Param('uuid', new ParseUUIDPipe()) uuid: string): string {
    return uuid;
  }

  @Get('several')
  several(
    @Query('ids', new ParseArrayPipe({ items: Number, separator: ',' })) ids: number[],
    @Query('side', new ParseEnumPipe(Side)) side: Side,
    @Query('at', ParseDatePipe) at: Date,
    @Query('rate', ParseFloatPipe) rate: number,
  ): object {
    return { ids, side, at, rate };
  }

  @Post('bulk')
  bulk(@Body(new ParseArrayPipe({ items: NewCat })) cats: NewCat[]): NewCat[] {
    return cats;
  }

  @Post('parameter')
  parameter(@Body(new ValidationPipe()) cat: NewCat): NewCat {
    return cat;
  }

  @Get('known/:name')
  known(@Param('name', CatByNamePipe) cat: object): object {
    return cat;
  }

  @Get('class/:id')
  ofClass(@Param() { id }: OfNumber): string {
    return id;
  }
}

const Roles = Reflector.createDecorator<string[]>();

@Injectable()
class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const targets = [context.getHandler(), context.getClass()] as const;
    const roles =
      this.reflector.getAllAndOverride(Roles, [...targets]) ??
      this.reflector.get<string[] | undefined>('roles', context.getHandler());
    const { user } = context.switchToHttp().getRequest<{ user?: { roles: string[] } }>();
    return !roles || roles.some((role) => user?.roles.includes(role));
  }
}

const User = createParamDecorator((data: string | undefined, context: ExecutionContext) => {
  const { user } = context.switchToHttp().getRequest<{ user: Record<string, unknown> }>();
  return data === undefined ? user : user[data];
});

@Controller('guarded')
@UseGuards(RolesGuard)
class GuardedController {
  @Get('admin')
  @Roles(['admin'])
  admin(): string {
    return 'admin';
  }

  @Get('keeper')
  @SetMetadata('roles', ['keeper'])
  keeper(@User('name') name: string): string {
    return `Hello ${name}`;
  }

  @Get('user')
  user(@User(new ValidationPipe({ validateCustomDecorators: true })) user: NewCat): NewCat {
    return user;
  }
}

/** Sets the user of a request, and its store; a module applies it to some paths. */
@Injectable()
class UserMiddleware implements NestMiddleware {
  constructor(private readonly storage: AsyncLocalStorage<string>) {}

  use(request: Request & { user?: object }, _: unknown, next: () => void): void {
    request.user = { name: 'Ann', age: 'three', roles: ['keeper'] };
    this.storage.run('Ann', next);
  }
}

class Enveloping implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<object> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

class Failing implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(catchError(() => throwError(() => new BadGatewayException())));
  }
}

class Remembering implements NestInterceptor {
  intercept(): Observable<unknown> {
    return of([]);
  }
}

class Impatient implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    const late = (error: unknown) =>
      throwError(() => (error instanceof TimeoutError ? new RequestTimeoutException() : error));
    return next.handle().pipe(timeout(1), catchError(late));
  }
}

@Controller('intercepted')
class InterceptedController {
  @Get('envelope')
  @UseInterceptors(Enveloping)
  envelope(): number[] {
    return [1];
  }

  @Get('error')
  @UseInterceptors(Failing)
  error(): never {
    throw new Error('secret');
  }

  @Get('remembered')
  @UseInterceptors(Remembering)
  remembered(): never {
    throw new Error('It is not called.');
  }

  @Get('late')
  @UseInterceptors(new Impatient())
  late(): Promise<never> {
    return new Promise(() => undefined);
  }
}

@Injectable({ scope: Scope.REQUEST })
class OfRequest {
  constructor(@Inject(REQUEST) readonly request: Request) {}
}

@Injectable({ scope: Scope.TRANSIENT })
class Greeting {
  constructor(@Inject(INQUIRER) readonly parent: object) {}
}

@Injectable()
class Greeter {
  constructor(readonly greeting: Greeting) {}
}

@Injectable()
class LazyService {
  readonly text = 'lazy';
}

@Module({ providers: [LazyService], exports: [LazyService] })
class LazyModule {}

const Flag = DiscoveryService.createDecorator<string>();

@Flag('experimental')
@Injectable()
class FlaggedService {}

@Injectable()
class FirstService {
  constructor(@Inject(forwardRef(() => SecondService)) readonly second: object) {}
}

@Injectable()
class SecondService {
  constructor(@Inject(forwardRef(() => FirstService)) readonly first: object) {}
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<{ folder: string }>()
  .setClassMethodName('forRoot')
  .build();

@Module({ exports: [MODULE_OPTIONS_TOKEN] })
class FolderModule extends ConfigurableModuleClass {}

@Controller('injected')
class InjectedController {
  constructor(
    private readonly ofRequest: OfRequest,
    private readonly greeter: Greeter,
    private readonly modules: ModuleRef,
    private readonly lazy: LazyModuleLoader,
    private readonly discovery: DiscoveryService,
    private readonly storage: AsyncLocalStorage<string>,
    @Inject(MODULE_OPTIONS_TOKEN) private readonly options: object,
    @Inject('ASYNC') private readonly ofFactory: object,
    @Inject('ALIAS') private readonly alias: object,
  ) {}

  @Get()
  async injected(): Promise<object> {
    const cats = this.modules.get(CatsService);
    const lazy = await this.lazy.load(() => LazyModule);
    const resolved = await this.modules.resolve(Greeting, ContextIdFactory.create());
    const flagged = this.discovery.getProviders({ metadataKey: Flag.KEY }).map(({ name }) => String(name));
    const { second } = this.modules.get(FirstService);
    return {
      url: this.ofRequest.request.url,
      inquirer: this.greeter.greeting.parent.constructor.name,
      isAnother: resolved !== this.greeter.greeting,
      isCreated: (await this.modules.create(CatsService)) !== cats,
      isAlias: this.alias === cats,
      isCircular: second === this.modules.get(SecondService),
      lazy: lazy.get(LazyService).text,
      store: this.storage.getStore(),
      flagged,
      options: this.options,
      ofFactory: this.ofFactory,
    };
  }
}

class Account {
  readonly first = 'Ann';

  @Exclude()
  readonly password = 'secret';

  @Transform(({ value }: { value: { name: string } }) => value.name)
  readonly role = { name: 'keeper' };

  @Expose()
  get full(): string {
    return `${this.first} Lee`;
  }
}

@Controller('accounts')
@UseInterceptors(ClassSerializerInterceptor)
class AccountsController {
  @Get('instance')
  instance(): Account {
    return new Account();
  }

  @Get('plain')
  @SerializeOptions({ type: Account })
  plain(): object {
    return { first: 'Bo', password: 'secret' };
  }
}

@Controller({ path: 'versions', version: ['1', '2'] })
class VersionsController {
  @Get()
  both(): string {
    return 'both';
  }

  @Get('third')
  @Version('3')
  third(): string {
    return 'third';
  }

  @Get('neutral')
  @Version(VERSION_NEUTRAL)
  neutral(): string {
    return 'neutral';
  }
}

class PartOfCat extends PartialType(NewCat) {}

interface File {
  readonly fieldname: string;
  readonly size: number;
}

@Controller({ path: 'files', version: '1' })
@RequireScopes()
class FilesController {
  @Post('one')
  @UseInterceptors(FileInterceptor('file'))
  one(@UploadedFile() file: File, @Body() { name }: PartOfCat): object {
    return { size: file.size, name };
  }

  @Post('any')
  @UseInterceptors(AnyFilesInterceptor())
  any(@UploadedFiles() files: File[]): string[] {
    return files.map(({ fieldname }) => fieldname);
  }

  @Get()
  file(): StreamableFile {
    const disposition = 'attachment; filename="a.json"';
    return new StreamableFile(Buffer.from('{"a":1}'), { type: 'application/json', disposition });
  }
}

@Controller('pages')
class PagesController {
  @Get()
  @Render('nest-documentation.spec.ts')
  page(): object {
    return { message: 'Hello world!' };
  }
}

let isDown = false;

@Controller('health')
class OwnHealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
  ) {}

  @Get('own')
  @HealthCheck()
  check(): Promise<object> {
    const dog = this.indicators.check('dog');
    return this.health.check([() => (isDown ? dog.down({ badboys: 1 }) : dog.up())]);
  }
}

class AgeOfCat extends PickType(NewCat, ['age']) {}
class NamelessCat extends OmitType(NewCat, ['name']) {}

class Colored {
  @ApiProperty()
  @IsString()
  color!: string;
}

class ColoredCat extends IntersectionType(NewCat, Colored) {}

@ApiBasicAuth()
@ApiExtraModels(NewCat, Colored)
@Controller({ path: 'described', version: '1' })
@RequireScopes()
class DescribedController {
  @Post('part')
  part(@Body() part: PartOfCat): object {
    return part;
  }

  @Post('age')
  age(@Body() age: AgeOfCat): object {
    return age;
  }

  @Post('nameless')
  nameless(@Body() cat: NamelessCat): object {
    return cat;
  }

  @Post('colored')
  @ApiConsumes('application/json')
  colored(@Body() cat: ColoredCat): object {
    return cat;
  }

  @Get('either')
  @ApiOkResponse({
    schema: { oneOf: [{ $ref: getSchemaPath(NewCat) }, { $ref: getSchemaPath(Colored) }] },
  })
  either(): object {
    return { color: 'red' };
  }
}

const lifecycle: string[] = [];

@Injectable()
class Living {
  onModuleInit = () => lifecycle.push('onModuleInit');
  onApplicationBootstrap = () => lifecycle.push('onApplicationBootstrap');
}

@Module({
  imports: [DiscoveryModule, TerminusModule, FolderModule.forRoot({ folder: './config' })],
  controllers: [
    CatsController,
    FailingController,
    PipesController,
    GuardedController,
    InterceptedController,
    InjectedController,
    AccountsController,
    VersionsController,
    FilesController,
    PagesController,
    OwnHealthController,
    DescribedController,
  ],
  providers: [
    CatsService,
    OfRequest,
    Greeting,
    Greeter,
    FlaggedService,
    FirstService,
    SecondService,
    Living,
    { provide: AsyncLocalStorage, useValue: new AsyncLocalStorage() },
    { provide: 'ASYNC', useFactory: () => Promise.resolve({ isReady: true }) },
    { provide: 'ALIAS', useExisting: CatsService },
  ],
})
class PagesModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply(UserMiddleware)
      .exclude({ path: 'guarded/admin', method: RequestMethod.GET })
      .forRoutes(GuardedController, { path: 'inject*splat', method: RequestMethod.ALL });
  }
}

/** As main.ts of an application does after it has created it. */
function prepare(application: unknown): void {
  const app = application as NestExpressApplication;
  app.enableCors();
  app.set('query parser', 'extended');
  // The file of this suite stands for a template.
  app.engine('ts', (_path: string, { message }: { message: string }, done: (e: null, page: string) => void) =>
    done(null, `<p>${message}</p>`),
  );
  app.setBaseViewsDir(import.meta.dirname);
  const config = new DocumentBuilder().setTitle('Cats example').addBearerAuth().build();
  SwaggerModule.setup('api', app, () => SwaggerModule.createDocument(app, config));
}

function form(...names: string[]): FormData {
  const files = new FormData();
  for (const name of names) files.set(name, new Blob(['12345']), 'cat.png');
  files.set('name', 'Kitty');
  return files;
}

const refused = (status: number, code: string, message: string) => ({ code, message, status });
const CAT = { name: 'Kitty', age: 3 };

describe('a page of Nest’s documentation, pasted into a module', async () => {
  const service = await openForAll({ modules: [PagesModule], prepare });

  const send = async (target: string, sent?: object | FormData) => {
    const headers = new Headers({ authorization: `Bearer ${service.key}` });
    const isForm = sent instanceof FormData;
    if (sent !== undefined && !isForm) headers.set('content-type', 'application/json');
    return fetch(`${service.url}${target}`, {
      method: sent === undefined ? 'GET' : 'POST',
      headers,
      redirect: 'manual',
      ...(sent === undefined ? {} : { body: isForm ? sent : JSON.stringify(sent) }),
    });
  };

  it.each<Row>([
    ['controllers', '/cats', 204, null, CAT],
    ['controllers', '/cats/all', 200, [CAT]],
    ['controllers', '/cats/any/a/b', 200, { splat: ['a', 'b'] }],
    ['controllers', '/cats/every', 200, {}, {}],
    ['controllers', '/cats/every?filter[where]=a&item[]=1', 200, { filter: { where: 'a' }, item: ['1'] }],
    ['controllers', '/cats/nothing', 200, null],
    ['exception filters', '/failing/object', 403, refused(403, 'forbidden', 'This is a custom message')],
    ['exception filters', '/failing/described', 400, refused(400, 'bad_request', 'Something bad happened')],
    ['pipes', '/pipes/not-acceptable/7', 200, 7],
    ['pipes', '/pipes/not-acceptable/a', 406, expect.objectContaining({ code: 'not_acceptable' })],
    ['pipes', '/pipes/uuid/7', 400, refused(400, 'bad_request', 'Validation failed (uuid is expected)')],
    [
      'pipes',
      '/pipes/several?ids=1,2&side=left&at=2026-01-02&rate=1.5',
      200,
      { ids: [1, 2], side: 'left', at: '2026-01-02T00:00:00.000Z', rate: 1.5 },
    ],
    ['pipes', '/pipes/several?ids=1,2&side=up', 400, expect.objectContaining({ code: 'bad_request' })],
    ['pipes', '/pipes/known/Kitty', 200, { name: 'Kitty', data: 'name', isKnown: true }],
    ['validation', '/pipes/bulk', 201, [CAT], [CAT]],
    ['validation', '/pipes/bulk', 400, expect.objectContaining({ code: 'bad_request' }), [{ name: 'a' }]],
    ['validation', '/pipes/parameter', 201, CAT, CAT],
    [
      'validation',
      '/pipes/parameter',
      400,
      expect.objectContaining({ details: [expect.objectContaining({ code: 'unknown_field' })] }),
      { ...CAT, breed: 'Maine Coon' },
    ],
    ['validation', '/pipes/class/12', 200, '12'],
    ['validation', '/pipes/class/a', 400, expect.objectContaining({ code: 'validation_failed' })],
    ['guards', '/guarded/admin', 403, refused(403, 'forbidden', 'Forbidden resource')],
    ['guards, middleware, custom decorators', '/guarded/keeper', 200, 'Hello Ann'],
    ['custom decorators', '/guarded/user', 400, expect.objectContaining({ code: 'bad_request' })],
    ['interceptors', '/intercepted/envelope', 200, { data: [1] }],
    ['interceptors', '/intercepted/error', 502, refused(502, 'bad_gateway', 'Bad Gateway')],
    ['interceptors', '/intercepted/remembered', 200, []],
    ['interceptors', '/intercepted/late', 408, refused(408, 'request_timeout', 'Request Timeout')],
    [
      'custom providers, dynamic modules, scopes, module reference, lazy loading, discovery, async local storage',
      '/injected',
      200,
      {
        url: '/injected',
        inquirer: 'Greeter',
        isAnother: true,
        isCreated: true,
        isAlias: true,
        isCircular: true,
        lazy: 'lazy',
        store: 'Ann',
        flagged: ['FlaggedService'],
        options: { folder: './config' },
        ofFactory: { isReady: true },
      },
    ],
    ['serialization', '/accounts/instance', 200, { first: 'Ann', role: 'keeper', full: 'Ann Lee' }],
    ['serialization', '/accounts/plain', 200, { first: 'Bo', role: 'keeper', full: 'Bo Lee' }],
    ['versioning', '/v2/versions', 200, 'both'],
    ['versioning', '/v3/versions/third', 200, 'third'],
    ['versioning', '/versions/neutral', 200, 'neutral'],
    ['file upload', '/v1/files/one', 201, { size: 5, name: 'Kitty' }, form('file')],
    ['file upload', '/v1/files/any', 201, ['a', 'b'], form('a', 'b')],
    ['streaming files', '/v1/files', 200, { a: 1 }],
    ['mapped types', '/v1/described/part', 201, {}, {}],
    ['mapped types', '/v1/described/age', 201, { age: 3 }, { age: 3 }],
    ['mapped types', '/v1/described/nameless', 201, { age: 3 }, { age: 3 }],
    ['mapped types', '/v1/described/colored', 201, { ...CAT, color: 'red' }, { ...CAT, color: 'red' }],
    ['mapped types', '/v1/described/colored', 400, expect.objectContaining({ status: 400 }), CAT],
  ])('%s: %s is %s', async (_page, target, status, body, sent) => {
    const response = await send(target, sent);
    const text = await response.text();
    expect([response.status, text === '' ? null : JSON.parse(text)]).toEqual([status, body]);
  });

  it.each([
    ['controllers', '/cats/docs', 302, 'location', 'https://docs.nestjs.com'],
    ['controllers', '/cats/docs?version=5', 301, 'location', 'https://docs.nestjs.com/v5/'],
    ['streaming files', '/v1/files', 200, 'content-disposition', 'attachment; filename="a.json"'],
    ['model-view-controller', '/pages', 200, 'content-type', 'text/html; charset=utf-8'],
    ['CORS', '/docs', 200, 'access-control-allow-origin', '*'],
    ['openapi: introduction', '/api', 200, 'content-type', 'text/html; charset=utf-8'],
  ])('%s: %s is %s with %s: %s', async (_page, target, status, name, value) => {
    const { headers, ...response } = await send(target).then((one) => ({
      status: one.status,
      headers: one.headers,
    }));
    expect([response.status, headers.get(name)]).toEqual([status, value]);
  });

  it('health checks: a state is 200, and a failure has the Error body', async () => {
    expect(await (await send('/health/own')).json()).toMatchObject({ status: 'ok', info: { dog: {} } });
    isDown = true;
    const response = await send('/health/own');
    expect([response.status, await response.json()]).toMatchObject([503, { code: 'service_unavailable' }]);
  });

  it('lifecycle events: each is called once', () => {
    expect(lifecycle).toEqual(['onModuleInit', 'onApplicationBootstrap']);
  });

  it('openapi: bodies are documented as they are read, and no credential that the service does not check', () => {
    const { paths, components } = service.document;
    const mediaTypes = (path: string) => {
      const body = paths[path]?.post?.requestBody as { content: object } | undefined;
      return Object.keys(body?.content ?? {});
    };
    expect(mediaTypes('/files/one')).toEqual(['multipart/form-data']);
    expect(mediaTypes('/described/part')).toEqual(['application/json']);
    expect(paths['/described/either']?.get).not.toHaveProperty('security');
    expect(Object.keys(components?.securitySchemes ?? {})).toEqual(['bearer']);
  });
});
