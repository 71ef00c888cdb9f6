import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Controller, Get } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { Request } from 'express';
import { expect, it } from 'vitest';
import { defineScopes } from './clients/scopes.js';
import { RequireScopes } from './auth.decorators.js';
import { ScopesGuard } from './scopes.guard.js';

const SHELVES_SCOPES = defineScopes('shelves', { read: 'Read shelves.', write: 'Change shelves.' });

@Controller()
@RequireScopes(SHELVES_SCOPES.read)
class ShelvesController {
  @Get()
  list(): void {}

  @Get()
  @RequireScopes(SHELVES_SCOPES.write)
  change(): void {}
}

/** Whether a key with these scopes passes; undefined for a request without one. */
function passes<T extends object>(
  controller: new () => T,
  route: keyof T & string,
  scopes?: string[],
): boolean {
  const request = new IncomingMessage(new Socket());
  if (scopes) (request as Request).caller = { clientId: 'shop', keyId: 'key', user: null, scopes };
  const handler = controller.prototype[route] as () => void;
  const context = new ExecutionContextHost([request, new ServerResponse(request)], controller, handler);
  return new ScopesGuard(new Reflector()).canActivate(context);
}

it('asks for every scope of the route and its controller', () => {
  const refusal = { code: 'insufficient_scope', status: 403 };
  expect(() => passes(ShelvesController, 'change', ['shelves:write'])).toThrow(
    expect.objectContaining(refusal),
  );
  expect(() => passes(ShelvesController, 'change', ['shelves:read'])).toThrow(
    expect.objectContaining(refusal),
  );
});
