import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { writeRefusal } from '../../core/errors/write-refusal.js';

/** Converts anything that was thrown into the Error body. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const [request, response] = host.getArgs<[Request, Response]>();
    writeRefusal(request.exception ?? thrown, request, response);
  }
}
