import { Controller, Get, Logger, Module } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { expect, it, vi } from 'vitest';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { Operation } from '../../src/http/declarations/operation.decorator.js';
import { openForAll } from '../support/opened.js';

class BoxDto {
  @ApiProperty({ type: () => BoxDto, required: false })
  inner?: BoxDto;
}

function circle(): BoxDto {
  const box: BoxDto = { inner: {} };
  if (box.inner) box.inner.inner = box;
  return box;
}

let reads = 0;

/** As the response of an HTTP client, which refers to its request, and that to the response. */
class ClientResponse {
  readonly request = {
    get sent() {
      reads += 1;
      return 'bytes';
    },
    response: this,
  };
}

@Controller({ path: 'boxes', version: '1' })
@RequireScopes()
class BoxesController {
  @Get('client')
  client(): ClientResponse {
    return new ClientResponse();
  }

  @Get('undeclared')
  undeclared(): BoxDto[] {
    return [circle()];
  }

  @Get('declared')
  @Operation({
    id: 'getBox',
    summary: 'A box',
    description: 'A box.',
    responses: { status: 200, type: BoxDto, description: 'A box' },
  })
  declared(): BoxDto {
    return circle();
  }
}
@Module({ controllers: [BoxesController] })
class BoxesModule {}

const service = await openForAll({ modules: [BoxesModule] });

it.each([
  ['undeclared', 'the result.0.inner.inner refers back to the result.0'],
  ['declared', 'the result.inner.inner refers back to the result'],
])('a result that contains itself returns 500, and the log names the property: %s', async (path, text) => {
  const logged = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
  const { status, body } = await service.request('GET', `/v1/boxes/${path}`);
  expect([status, body.code]).toEqual([500, 'internal_error']);
  expect(logged.mock.calls.map(([line]) => String(line)).join()).toContain(text);
});

it('a result that contains itself is written once, not until the stack overflows', async () => {
  vi.spyOn(Logger.prototype, 'error').mockReturnValue();
  expect((await service.request('GET', '/v1/boxes/client')).status).toBe(500);
  expect(reads).toBeLessThan(5);
});
