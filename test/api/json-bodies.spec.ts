import { Body, Controller, Delete, Module, Post, Req, createParamDecorator } from '@nestjs/common';
import { ApiBody, ApiExcludeController } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsNumber, IsOptional, ValidateNested } from 'class-validator';
import type { Request } from 'express';
import { describe, expect, it } from 'vitest';
import { parseRaw, sendRaw } from '../support/raw-http.js';
import { CurrentCaller } from '../../src/auth/caller.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { Int64, Integer } from '../../src/http/validation/fields.js';
import { faultsOf } from '../support/faults.js';
import { openForAll } from '../support/opened.js';
import { described } from '../support/described.js';

class Line {
  @Int64({ description: 'Id of the article', example: 1 })
  articleId!: bigint;

  @Integer({ description: 'How many', example: 1, minimum: 1, maximum: 9, optional: true })
  count?: number;

  @IsNumber()
  price!: number;
}

class Order {
  @ValidateNested({ each: true })
  @Type(() => Line)
  lines!: Line[];

  @IsOptional()
  @IsInt()
  points?: number;

  @IsOptional()
  anything?: unknown;
}

/** Any JSON: a body without a class is refused at the start, unless a pipe takes it. */
const ANY_JSON = { transform: (value: unknown): unknown => value };

const WholeBody = createParamDecorator(
  (_, context) => context.switchToHttp().getRequest<Request>().body as object,
);

/** An object of a module, whose members are none of the pipes' business. */
class Basket {
  constructor(readonly body: object) {
    Object.defineProperty(this, 'total', {
      enumerable: true,
      get: () => {
        throw new Error('The total was read before the basket was full.');
      },
    });
  }
}

const BasketOfBody = createParamDecorator((_, context) => {
  const { body } = context.switchToHttp().getRequest<Request>();
  return { body: body as object, basket: new Basket(body as object) };
});

@ApiExcludeController()
@Controller({ path: 'orders', version: '1' })
class OrdersController {
  @Post()
  @described('order', { type: Object })
  order(@Body() order: Order): object {
    return { order, isPlain: typeof order.lines[0]?.price === 'number' };
  }

  @Post('anything')
  @described('orderAnything', { type: Object })
  anything(@Body(ANY_JSON) body: unknown): object {
    return { body, types: Object.values(body as object).map((value) => typeof value) };
  }

  @Post('raw')
  @described('orderRaw', { type: Object })
  raw(@Req() { body }: Request): object {
    return { total: (body as { price: number }).price * 2 };
  }

  @Post('by-decorator')
  @described('orderByDecorator', { type: Object })
  byDecorator(@WholeBody() body: object): object {
    return body;
  }

  @Post('in-basket')
  @described('orderInBasket', { type: Object })
  inBasket(@BasketOfBody() { body, basket }: { body: object; basket: Basket }): object {
    return { types: Object.values(body).map((value) => typeof value), isSame: basket.body === body };
  }

  @Post('in-document')
  @ApiBody({ schema: { type: 'object' } })
  @described('orderInDocument', { type: Object })
  inDocument(): object {
    return {};
  }

  @Post('plain')
  plain(): object {
    return {};
  }

  @Post('repeated')
  @described('repeatOrder', { type: Object })
  @Idempotent()
  repeat(@CurrentCaller() client: unknown): object {
    return { isKnown: client !== undefined };
  }

  @Delete('last')
  @described('deleteOrder')
  delete(): void {
    return undefined;
  }
}

@Module({ controllers: [OrdersController] })
class OrdersModule {}

const service = await openForAll({ modules: [OrdersModule] });

const large = await openForAll({
  modules: [OrdersModule],
  environment: { BODY_LIMIT_BYTES: '16000000' },
});

const post = (path: string, json: unknown) => service.request('POST', path, { json });

describe('a number that is written with a fraction', () => {
  it('is a plain number for rules and handlers that do not require an integer', async () => {
    const { status, body } = await post(
      '/v1/orders',
      '{"lines":[{"articleId":1,"price":9.50}],"points":3.0,"anything":[{"deep":1e2},0.5]}',
    );
    expect(status).toBe(200);
    expect(body).toEqual({
      order: { lines: [{ articleId: 1, price: 9.5 }], points: 3, anything: [{ deep: 100 }, 0.5] },
      isPlain: true,
    });
  });

  it('is not an integer for a property that requires one, at any depth of a body', async () => {
    const refused = await post('/v1/orders', '{"lines":[{"articleId":1.0,"count":2.0,"price":1}]}');
    expect(faultsOf(refused)).toEqual(['lines.0.articleId not_an_integer', 'lines.0.count not_an_integer']);
  });

  it('is plain in a body without a class, and counts in what was parsed', async () => {
    expect((await post('/v1/orders/anything', '{"a":1.0,"b":[2.5],"c":1}')).body).toEqual({
      body: { a: 1, b: [2.5], c: 1 },
      types: ['number', 'object', 'number'],
    });
    expect((await post('/v1/orders/anything', '[1.0,-2e0]')).body.types).toEqual(['number', 'number']);
    expect((await post('/v1/orders/raw', '{"price":1.5}')).body).toEqual({ total: 3 });
  });

  it('is plain in what a decorator of a module creates from a body, whose own objects are not changed', async () => {
    const { status, body } = await post('/v1/orders/in-basket', '{"a":1.0,"b":2e0}');
    expect([status, body]).toEqual([200, { types: ['number', 'number'], isSame: true }]);
  });
});

describe('a member with a name of the prototype', () => {
  const order = (more: string, inLine = '') =>
    post('/v1/orders', `{"lines":[{"articleId":1,"price":1${inLine}}]${more}}`);

  it.each([
    ['', ',"__proto__":1'],
    [',"__proto__":null', ''],
    [',"anything":{"__proto__":{"a":1}}', ''],
    [',"anything":[[{"__pro\\u0074o__":[]}]]', ''],
    [',"anything":{"__proto__":1.5,"b":12345678901234567890}', ''],
  ])('is malformed when it is __proto__, wherever it is: %s %s', async (more, inLine) => {
    const { status, body } = await order(more, inLine);
    expect([status, body.code]).toEqual([400, 'malformed_json']);
    expect(body.message).toContain('it has a member named __proto__');
  });

  it('is malformed even where any JSON is accepted', async () => {
    for (const path of ['anything', 'raw', 'by-decorator', 'in-document', 'plain', 'repeated'])
      expect((await post(`/v1/orders/${path}`, '{"a":[{"__proto__":1}]}')).body.code, path).toBe(
        'malformed_json',
      );
  });

  it('is refused where class-transformer or Nest would drop it', async () => {
    expect(faultsOf(await order(',"constructor":1', ',"constructor":1'))).toEqual([
      'lines.0.constructor unknown_field',
      'constructor unknown_field',
    ]);
    expect(
      faultsOf(await order(',"anything":[{"a":{"constructor":[]},"toString":1,"prototype":{}}]')),
    ).toEqual([
      'anything.0.a.constructor unknown_field',
      'anything.0.toString unknown_field',
      'anything.0.prototype unknown_field',
    ]);
  });

  it('is like any other elsewhere', async () => {
    const json = '{"constructor":{"prototype":{"a":1}},"prototype":[],"toString":"x","hasOwnProperty":2}';
    expect((await post('/v1/orders/anything', json)).body.body).toEqual(JSON.parse(json));
    const anything = [{ __html: 'x', length: null }];
    expect((await order(`,"anything":${JSON.stringify(anything)}`)).body.order.anything).toEqual(anything);
  });
});

describe('a member that occurs twice', () => {
  it.each([
    ['"a":1,"a":1'],
    ['"a":1,"a":2'],
    ['"a":1.5,"a":1.5'],
    ['"a":1.5,"a":1.50'],
    ['"a":12345678901234567890,"a":12345678901234567890'],
    ['"a":12345678901234567890,"a":12345678901234567891'],
    ['"a":{},"a":[]'],
    ['"a":"x","\\u0061":"x"'],
    ['"b":[{"a":[],"a":[]}],"a":1'],
    ['"b":{"a":1e3,"c":{"a":1},"a":{"a":1}}'],
    ['"":1,"a":"\\"","a":"\\""'],
  ])('has one text: {%s}', async (members) => {
    const { status, body } = await post('/v1/orders/anything', `{${members}}`);
    expect([status, body]).toEqual([
      400,
      {
        code: 'malformed_json',
        message: 'The request body is not valid JSON: it has the member "a" twice.',
        status: 400,
      },
    ]);
  });

  it('is named shortened and well-formed', async () => {
    const name = `${'n'.repeat(99)}🐕`;
    const { body } = await post(
      '/v1/orders/anything',
      JSON.stringify({ [name]: 1 }).replace('}', `,"${name}":1}`),
    );
    expect(body.message).toBe(
      `The request body is not valid JSON: it has the member "${'n'.repeat(99)}…" twice.`,
    );
  });
});

describe('a text of many escapes', () => {
  it.each(['', ',"b":1.5'])('is read as any other%s', async (more) => {
    for (const escape of ['\\n', '\\"', '\\\\', '\\u0041']) {
      const json = `{"a":"${escape.repeat(1_000_000)}"${more}}`;
      const { status, body } = await large.request('POST', '/v1/orders/anything', { json });
      expect([status, body.types?.[0]]).toEqual([200, 'string']);
      const twice = await large.request('POST', '/v1/orders/anything', { json: `{"a":1,${json.slice(1)}` });
      expect(twice.body.message).toContain('it has the member "a" twice');
      const open = await large.request('POST', '/v1/orders/anything', {
        json: json.slice(0, -2 - more.length),
      });
      expect([open.status, open.body.code]).toEqual([400, 'malformed_json']);
      expect(open.body.message).not.toContain('UTF-8');
    }
  });
});

describe('no body', () => {
  const spellings = [
    ['at all', '', ''],
    ['by Content-Length', 'Content-Length: 0\r\n', ''],
    ['by Content-Length, with a type', 'Content-Type: application/json\r\nContent-Length: 0\r\n', ''],
    ['in chunks', 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
    [
      'in chunks, of a coding',
      'Content-Type: application/json\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n',
      '0\r\n\r\n',
    ],
    ['but white space', 'Content-Type: application/json\r\nContent-Length: 4\r\n', '\r\n\t '],
  ] as const;
  const send = async (path: string, fields: string, body: string) =>
    parseRaw(
      await sendRaw(
        service.url,
        `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${service.key}\r\n${fields}\r\n${body}`,
      ),
    );

  it.each(spellings)('%s is malformed where one is required', async (_, fields, body) => {
    const response = await send('/v1/pets', fields, body);
    expect([response.status, response.body]).toEqual([
      400,
      { code: 'malformed_json', message: 'The request body is not valid JSON: it is empty.', status: 400 },
    ]);
  });
});

describe('an operation without a body', () => {
  const send = (method: string, path: string, json: string) =>
    service.request(method, `/v1/orders/${path}`, { json });

  it.each([
    ['POST', '{"grace":"24h","at":1.5}', ['grace unknown_field', 'at unknown_field']],
    ['DELETE', '{"grace":"24h"}', ['grace unknown_field']],
    ['POST', '["24h"]', [' not_an_object']],
    ['POST', '1.5', [' not_an_object']],
  ])('refuses %s with %s, which it would ignore', async (method, json, faults) => {
    const refused = await send(method, method === 'POST' ? 'repeated' : 'last', json);
    expect([refused.status, refused.body.code]).toEqual([400, 'validation_failed']);
    expect(faultsOf(refused)).toEqual(faults);
  });

  it('accepts an empty body', async () => {
    const responses = ['{}', 'null', ' ', ''].map(async (json) => [
      (await send('POST', 'repeated', json)).status,
      (await send('DELETE', 'last', json)).status,
    ]);
    expect(await Promise.all(responses)).toEqual(responses.map(() => [200, 200]));
  });

  it.each(['raw', 'by-decorator', 'in-document', 'plain'])(
    'is not one that may read it in its own way: %s',
    async (path) => {
      expect((await send('POST', path, '{"price":1}')).status).toBeLessThan(300);
    },
  );
});
