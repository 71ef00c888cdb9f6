import { Controller, Get, Module } from '@nestjs/common';
import { ApiOkResponse, ApiProperty } from '@nestjs/swagger';
import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { jsonOf } from '../../src/http/replies/reply.js';
import { openForAll } from '../support/opened.js';
import { described } from '../support/described.js';

class Maker {
  @ApiProperty()
  town!: string;
}

class Gadget {
  @ApiProperty({ type: 'integer' })
  size!: bigint;

  @ApiProperty()
  name!: string;

  @ApiProperty({ type: () => Maker, required: false })
  maker?: Maker;

  @ApiProperty({ type: [Maker], required: false })
  shops?: Maker[];

  @ApiProperty({ name: 'made_at', required: false })
  madeAt?: Date;

  @ApiProperty({ type: 'object', additionalProperties: true, selfRequired: false })
  labels?: object;
}

/** A row with more than its DTO declares, in another order. */
const row = {
  supplierNote: 'pays late',
  name: 'Ball',
  size: 2n ** 63n - 1n,
  maker: { town: 'Ulm', secret: 1 },
  shops: [{ secret: 2, town: 'Bern' }],
  madeAt: new Date(0),
  labels: { any: { thing: null } },
};
const SHOWN =
  '{"size":9223372036854775807,"name":"Ball","maker":{"town":"Ulm"},"shops":[{"town":"Bern"}],' +
  '"made_at":"1970-01-01T00:00:00.000Z","labels":{"any":{"thing":null}}}';

class StoredGadget {
  readonly supplierNote = 'pays late';
  constructor(readonly gadget: typeof row) {}
  toJSON(): object {
    return this.gadget;
  }
}

const declared = (id: string) => described(id, { type: Gadget });

@Controller({ path: 'gadgets', version: '1' })
class GadgetsController {
  @Get('one')
  @declared('one')
  one(): object {
    return row;
  }

  @Get('list')
  @described('list', { arrayOf: Gadget, schemaName: 'Gadgets' })
  list(): object[] {
    return [row, row];
  }

  @Get('observed')
  @declared('observed')
  observed(): object {
    return from([row]);
  }

  @Get('stored')
  @declared('stored')
  stored(): object {
    return new StoredGadget(row);
  }

  @Get('bare')
  @declared('bare')
  bare(): object {
    return { size: 1n, name: 'Ball', maker: { secret: 1 }, supplierNote: 'pays late' };
  }

  @Get('enveloped')
  @declared('enveloped')
  enveloped(): object {
    return { name: 'an envelope of an added interceptor', data: row };
  }

  @Get('stock-nested')
  @ApiOkResponse({ type: Gadget })
  stockNested(): object {
    return { size: 1n, name: 'Ball', shops: row.shops };
  }

  @Get('stock-free')
  @ApiOkResponse({ type: Gadget })
  stockFree(): object {
    return { size: 1n, name: 'Ball', labels: row.labels };
  }
}

@Module({ controllers: [GadgetsController] })
class GadgetsModule {}

const service = await openForAll({ modules: [GadgetsModule] });

describe('the response of an operation', () => {
  it.each([
    ['an object', 'one', SHOWN],
    ['an array', 'list', `[${SHOWN},${SHOWN}]`],
    ['an Observable', 'observed', SHOWN],
    ['an object with a toJSON of its own', 'stored', SHOWN],
  ])('is shown as its DTO declares it: %s', async (_, path, expected) => {
    expect((await service.request('GET', `/v1/gadgets/${path}`)).text).toBe(expected);
  });
});

describe('an object within a response', () => {
  it('shows nothing that its class does not declare, also where a required member is missing', async () => {
    const response = await fetch(`${service.url}/v1/gadgets/bare`, {
      headers: { authorization: `Bearer ${service.key}` },
    });
    expect(await response.text()).toBe('{"size":1,"name":"Ball","maker":{}}');
  });
});

class Ring {
  @ApiProperty({ type: () => Ring })
  next!: Ring;
}

it('names the circle of entities that a DTO follows', () => {
  const ring: { next?: unknown } = {};
  ring.next = ring;
  expect(() => jsonOf(ring, Ring)).toThrow('the result.next refers back to the result.');
});

describe('the test kit', () => {
  it('refuses a member that no schema has', async () => {
    await expect(service.request('GET', '/v1/gadgets/stock-nested')).rejects.toThrow(/secret/);
  });

  it('refuses an envelope that is not declared, of which nothing is shown', async () => {
    const shown = '{"name":"an envelope of an added interceptor"}';
    await expect(service.request('GET', '/v1/gadgets/enveloped')).rejects.toThrow(shown);
  });

  it('accepts any member where the schema says so', async () => {
    expect((await service.request('GET', '/v1/gadgets/stock-free')).status).toBe(200);
  });
});
