import { HttpException } from '@nestjs/common';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { malformed } from './read-body.js';

/** An error of multer, which Nest's interceptors for files use. */
interface MulterError extends Error {
  readonly code: string;
  readonly field?: string;
}

/** Converts an exception of Nest's interceptors for files to an error of the catalogue; any other error is returned unchanged. */
export function refusalOfMultipart(thrown: unknown): unknown {
  if (!(thrown instanceof HttpException) || thrown instanceof ApiError) return thrown;
  const { cause, message } = thrown;
  // Nest's 413 for a file already has the catalogue's code, payload_too_large.
  if (thrown.getStatus() === 413) return thrown;
  if (isOfMulter(cause)) return refusalOfMulter(cause);
  // Errors of busboy, which parses the parts, have no code.
  return message.startsWith('Multipart: ') && thrown.getStatus() === 400
    ? malformed(`its body is not multipart/form-data (${message.slice('Multipart: '.length)})`, cause)
    : thrown;
}

function isOfMulter(cause: unknown): cause is MulterError {
  return cause instanceof Error && cause.name === 'MulterError';
}

function refusalOfMulter(cause: MulterError): ApiError {
  const { code, field = '', message } = cause;
  if (code === 'LIMIT_UNEXPECTED_FILE')
    return new ApiError(HTTP_ERRORS.validation_failed, {
      details: [
        { field, code: 'unknown_field', message: 'This file is not expected, or there are too many files.' },
      ],
      cause,
    });
  return malformed(`${message}${field === '' ? '' : ` (${field})`}`, cause);
}
