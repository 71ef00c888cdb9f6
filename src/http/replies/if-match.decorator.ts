import { type ExecutionContext, UseGuards, createParamDecorator } from '@nestjs/common';
import type { Request } from 'express';
import { invalidDeclaration, decorated } from '../../core/declaration-errors.js';
import { declareOperation } from '../../core/declared-operation.js';
import { reading } from '../../core/execution-context.js';
import { PreconditionGuard } from './precondition.guard.js';

const WithPrecondition = createParamDecorator(
  reading(
    'head',
    (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().precondition,
  ),
);

/**
 * Handler parameter of a PATCH, PUT or DELETE: the client's Precondition in `If-Match`. A request without the field is refused with 428
 * precondition_required (RFC 6585 section 3), unless it is `optional`.
 */
export function IfMatch({ optional = false }: { readonly optional?: boolean } = {}): ParameterDecorator {
  return (prototype, method, index) => {
    if (method === undefined)
      invalidDeclaration(
        `${decorated(prototype)}: @IfMatch() is in its constructor. Put it on a parameter of a handler.`,
      );
    WithPrecondition()(prototype, method, index);
    const descriptor = Object.getOwnPropertyDescriptor(prototype, method) as PropertyDescriptor;
    declareOperation(descriptor.value as object, { ifMatch: optional ? 'optional' : 'required' });
    UseGuards(PreconditionGuard)(prototype, method, descriptor);
  };
}
