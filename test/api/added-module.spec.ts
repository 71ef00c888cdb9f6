import {
  BadGatewayException,
  BadRequestException,
  Body,
  ConflictException,
  Controller,
  GatewayTimeoutException,
  Get,
  HttpException,
  Module,
  NotFoundException,
  Post,
  Res,
  ServiceUnavailableException,
} from '@nestjs/common';
import { ApiOperation, ApiProperty } from '@nestjs/swagger';
import { IsEmail, IsInt } from 'class-validator';
import type { Response } from 'express';
import { describe, expect, it } from 'vitest';
import { defineScopes } from '../../src/auth/scopes.js';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { ApiError } from '../../src/core/errors/api-error.js';
import { ApiErrors } from '../../src/core/errors/api-errors.decorator.js';
import { defineErrors } from '../../src/core/errors/define-errors.js';
import { describeRefusals } from '../support/refusal-table.js';
import { faultsOf } from '../support/faults.js';
import { openForAll } from '../support/opened.js';
import { described } from '../support/described.js';

const GADGETS_SCOPES = defineScopes('gadgets', { write: 'Keep gadgets.' });
const SHELVES_SCOPES = defineScopes('shelves', { read: 'Read shelves.', write: 'Change shelves.' });
const GADGETS_ERRORS = defineErrors({
  gadget_broken: {
    status: 409,
    message: 'The gadget {name} is broken.',
    cause: 'It broke.',
    remedy: 'Mend it.',
  },
});

class Gadget {
  @ApiProperty()
  @IsEmail()
  maker!: string;

  @ApiProperty()
  @IsInt()
  size!: number;
}

/** What a team might add: stock Nest, stock class-validator, and a few of the platform's decorators. */
@Controller({ path: 'gadgets', version: '1' })
class GadgetsController {
  @Get()
  @ApiOperation({ operationId: 'listGadgets', summary: 'List gadgets', description: 'Lists gadgets.' })
  list(): object {
    return { biggest: 2n ** 63n - 1n, price: 9.95 };
  }

  @Post()
  @RequireScopes(GADGETS_SCOPES.write)
  @ApiErrors(GADGETS_ERRORS.gadget_broken)
  @described('createGadget', { status: 201, type: Gadget })
  create(@Body() gadget: Gadget): Gadget {
    return gadget;
  }

  @Get('broken')
  @ApiErrors(GADGETS_ERRORS.gadget_broken)
  broken(): never {
    throw new ApiError(GADGETS_ERRORS.gadget_broken, {
      params: { name: 'Teddy' },
      cause: new Error('secret of the workshop'),
    });
  }

  @Get('crash')
  crash(): never {
    throw new Error('SELECT secret FROM /etc/passwd');
  }

  @Get('missing')
  missing(): never {
    throw new NotFoundException();
  }

  @Get('conflict')
  conflict(): never {
    throw new ConflictException('Taken already.');
  }

  @Get('long')
  long(): never {
    throw new BadRequestException(
      Array.from({ length: 9_000 }, (_, at) => `property ${at} should not exist`),
    );
  }

  @Get('gateway')
  gateway(): never {
    throw new BadGatewayException('the secret upstream 10.0.0.7 is gone');
  }

  @Get('slow')
  slow(): never {
    throw new GatewayTimeoutException();
  }

  @Get('unnamed')
  unnamed(): never {
    throw new HttpException('a secret', 599);
  }

  @Get('by-hand')
  byHand(@Res() response: Response): void {
    response.status(501).json({ message: 'a secret' });
  }

  @Get('away')
  away(): never {
    throw new ServiceUnavailableException('the pool at 10.0.0.7 is gone');
  }
}

/** A controller whose scope holds for each of its routes. */
@Controller({ path: 'shelves', version: '1' })
@RequireScopes(SHELVES_SCOPES.read)
class ShelvesController {
  @Get('new')
  @RequireScopes(SHELVES_SCOPES.write)
  added(): object {
    return {};
  }
}

@Module({ controllers: [GadgetsController, ShelvesController] })
class GadgetsModule {}

const service = await openForAll({ modules: [GadgetsModule], plan: 'pro' });

describe('a module added to the service', () => {
  it('returns bigint and fractions exactly', async () => {
    expect((await service.request('GET', '/v1/gadgets')).text).toBe(
      '{"biggest":9223372036854775807,"price":9.95}',
    );
  });

  it('has its values validated by standard decorators, with every error named', async () => {
    const refused = await service.request('POST', '/v1/gadgets', {
      json: { maker: 'x', size: 1.5, color: 'red' },
    });
    expect(refused.status).toBe(400);
    expect(faultsOf(refused)).toEqual(['maker is_email', 'size is_int', 'color unknown_field']);
    const made = await service.request('POST', '/v1/gadgets', { json: { maker: 'a@b.example', size: 3 } });
    expect([made.status, made.body]).toEqual([201, { maker: 'a@b.example', size: 3 }]);
  });

  it.each([
    ['its own error', 'broken', 409, 'gadget_broken', 'The gadget Teddy is broken.'],
    ['a crash', 'crash', 500, 'internal_error', /X-Request-Id/],
    ['Nest’s 404', 'missing', 404, 'not_found', 'Not Found'],
    ['Nest’s 409', 'conflict', 409, 'conflict', 'Taken already.'],
    ['messages without end', 'long', 400, 'bad_request', /^property 0 should not exist; .{1,500}…$/],
    ['Nest’s 502', 'gateway', 502, 'bad_gateway', 'Bad Gateway'],
    ['Nest’s 504', 'slow', 504, 'gateway_timeout', 'Gateway Timeout'],
    ['a 5xx without a name', 'unnamed', 500, 'internal_error', /X-Request-Id/],
    ['a 501 by hand', 'by-hand', 501, 'not_implemented', 'Not Implemented'],
    ['Nest’s 503', 'away', 503, 'service_unavailable', /try again/],
  ])('returns the Error body for %s, and leaks nothing', async (_, path, status, code, message) => {
    const { body, headers, text } = await service.request('GET', `/v1/gadgets/${path}`);
    expect(body).toEqual({ code, status, message: expect.stringMatching(message) });
    expect(text).not.toMatch(/secret|SELECT|passwd|10\.0\.0\.7/);
    expect(headers.has('retry-after')).toBe(status === 503);
  });

  it.each([
    [['shelves:read'], 403],
    [['shelves:write'], 403],
    [['shelves:read', 'shelves:write'], 200],
  ])('needs the scopes of a route and of its controller: with %j %i', async (scopes, expected) => {
    const { key } = await service.issueKey({ scopes });
    expect((await service.request('GET', '/v1/shelves/new', { key })).status).toBe(expected);
  });
});

describe('two features that claim one name', () => {
  it.each<[string, () => unknown, string]>([
    [
      'an error code',
      () => defineErrors({ pet_not_found: { status: 404, message: 'x', cause: 'x', remedy: 'x' } }),
      'Error code "pet_not_found" is declared twice.',
    ],
    ['a scope', () => defineScopes('pets', { read: 'x' }), 'Scope "pets:read" is declared twice.'],
  ])('stop the start: %s', (_, declare, line) => {
    expect(declare).toThrow(line);
  });
});

describe('what no feature can declare', () => {
  it.each<[string, () => unknown, string]>([
    [
      'an error that succeeds',
      () => defineErrors({ fine_code: { status: 200, message: 'x', cause: 'x', remedy: 'x' } }),
      'Error code "fine_code" has the status 200. Use a status from 400 to 599.',
    ],
    [
      'an example that leaves out a place of the message',
      () =>
        defineErrors({
          other_code: { status: 400, message: '{a} {b}', example: { a: 1 }, cause: 'x', remedy: 'x' },
        }),
      'Error code "other_code" has example values for a, but its message has a, b. Give exactly one example value for each placeholder.',
    ],
    ...[{ ...GADGETS_SCOPES.write, name: 'nobody:declared' }, 'toys:read' as never, undefined as never].map(
      (scope): [string, () => unknown, string] => [
        'a scope that is none',
        () => RequireScopes(scope)(class Toys {}),
        'Toys: @RequireScopes() is given ',
      ],
    ),
  ])('%s stops the start', (_, declare, line) => {
    expect(declare).toThrow(line);
  });
});

describe('the derived refusal table covers it without a separate test:', () => {
  describeRefusals({ modules: [GadgetsModule] }, ['/v1/gadgets']);
});
