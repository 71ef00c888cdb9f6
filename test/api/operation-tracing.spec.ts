import { tracingChannel } from 'node:diagnostics_channel';
import { Controller, Get, Module, Param, ParseIntPipe, RequestMethod } from '@nestjs/common';
import { type MockInstance, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Public } from '../../src/auth/auth.decorators.js';
import { ApiError } from '../../src/core/errors/api-error.js';
import { HTTP_ERRORS } from '../../src/core/errors/http.errors.js';
import { CompiledOperation } from '../../src/http/adapter/compiled-operation.js';
import { OPERATION_CHANNEL, type TracedOperation } from '../../src/http/adapter/operation-tracing.js';
import { ServiceAdapter } from '../../src/http/adapter/service-adapter.js';
import { Operation } from '../../src/http/operation.decorator.js';
import { application } from '../support/application.js';

/** Declares no member, so that every one is shown. */
class Anything {}

const declared = (id: string) =>
  Operation({
    id,
    summary: id,
    description: 'For a test.',
    answers: { status: 200, description: 'Whatever', type: Anything },
  });

@Controller({ path: 'traced', version: '1' })
@Public()
class TracedController {
  @Get('compiled/:id')
  @declared('compiled')
  compiled(@Param('id') id: string): object {
    return { id };
  }

  @Get('nest/:id')
  @declared('nest')
  nest(@Param('id', ParseIntPipe) id: number): object {
    return { id };
  }

  @Get('refused')
  @declared('refused')
  refused(): never {
    throw new ApiError(HTTP_ERRORS.malformed_request, { params: { reason: 'of the test' } });
  }

  @Get('undeclared')
  undeclared(): object {
    return {};
  }
}

@Module({ controllers: [TracedController] })
class TracedModule {}

let run: MockInstance<CompiledOperation['run']>;
beforeEach(() => {
  run = vi.spyOn(CompiledOperation.prototype, 'run');
});

describe('the tracing channel', () => {
  it('sees every operation from its begin to its end, whoever runs it', async () => {
    const seen: unknown[] = [];
    const show = (event: string, traced: TracedOperation) => {
      const { method, route, controller, handler, operation, isCompiled, request, response } = traced;
      const of = `${controller?.name}.${handler} ${operation}`;
      seen.push([
        event,
        method,
        route,
        of,
        isCompiled,
        request.originalUrl,
        response.headersSent && response.statusCode,
      ]);
    };
    const subscribers = {
      start: (message: unknown) => show('start', message as TracedOperation),
      end: () => undefined,
      asyncStart: () => undefined,
      asyncEnd: (message: unknown) => show('asyncEnd', message as TracedOperation),
      error: () => seen.push('error'),
    };
    const channel = tracingChannel(OPERATION_CHANNEL);
    const { url } = await application({ modules: [TracedModule] });
    // Nobody listens yet.
    await fetch(`${url}/v1/traced/compiled/0`);
    channel.subscribe(subscribers);
    onTestFinished(() => {
      channel.unsubscribe(subscribers);
    });
    for (const path of ['compiled/1', 'nest/2', 'refused', 'undeclared', 'none'])
      await (await fetch(`${url}/v1/traced/${path}`)).text();
    await expect.poll(() => seen.length).toBe(8);
    const both = (route: string, handler: string, isCompiled: boolean, target: string, status: number) => [
      ['start', 'GET', route, handler, isCompiled, target, false],
      ['asyncEnd', 'GET', route, handler, isCompiled, target, status],
    ];
    const of = 'TracedController';
    expect(seen).toEqual([
      ...both('/v1/traced/compiled/:id', `${of}.compiled compiled`, true, '/v1/traced/compiled/1', 200),
      ...both('/v1/traced/nest/:id', `${of}.nest nest`, false, '/v1/traced/nest/2', 200),
      ...both('/v1/traced/refused', `${of}.refused refused`, true, '/v1/traced/refused', 400),
      ...both('/v1/traced/undeclared', 'undefined.undefined undefined', false, '/v1/traced/undeclared', 200),
    ]);
  });
});

describe('Nest’s own hooks', () => {
  it('see compiled operations as those that Nest runs', async () => {
    const seen: unknown[] = [];
    const adapter = new ServiceAdapter();
    adapter.setOnRouteTriggered((method, path) => seen.push([RequestMethod[method], path]));
    adapter.setOnRequestHook(((_request: unknown, _response: unknown, done: () => void) => {
      seen.push('request');
      done();
    }) as never);
    adapter.setOnResponseHook((() => seen.push('response')) as never);
    const { url } = await application({ modules: [TracedModule], adapter });
    for (const path of ['compiled/1', 'nest/2']) {
      run.mockClear();
      await (await fetch(`${url}/v1/traced/${path}`)).text();
      await expect.poll(() => seen.length).toBe(3);
      expect(seen.splice(0)).toEqual([
        'request',
        ['GET', `/v1/traced/${path.replace(/\d/, ':id')}`],
        'response',
      ]);
      expect(run).toHaveBeenCalledTimes(path.startsWith('compiled') ? 1 : 0);
    }
  });
});
