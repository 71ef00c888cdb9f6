// Error responses of peers/fastify-equal.mjs: refusals, and validation errors from ajv.

/** An error without a stack trace, which would cost more than the rest of the request. */
class Refusal {
  constructor(statusCode, code, message, headers) {
    Object.assign(this, { statusCode, code, message, headers });
  }
}
Object.setPrototypeOf(Refusal.prototype, Error.prototype);

/** A refusal with this status, code and message. */
export function refusal(statusCode, code, message, headers = {}) {
  return new Refusal(statusCode, code, message, headers);
}

/** The schema of the Error body. */
export const errorSchema = {
  type: 'object',
  required: ['code', 'message', 'status'],
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    status: { type: 'integer' },
    details: {
      type: 'array',
      items: {
        type: 'object',
        properties: { field: { type: 'string' }, code: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
};

/** Sends the Error body for any error in a request. */
export function errorHandler(error, request, reply) {
  if (error.validation) {
    const details = error.validation.map(detailOf);
    return send(
      reply,
      400,
      'validation_failed',
      'The request contains invalid values; see details.',
      details,
    );
  }
  if (error instanceof Refusal) {
    reply.headers(error.headers);
    return send(reply, error.statusCode, error.code, error.message);
  }
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return send(reply, 415, 'unsupported_media_type', 'The request body must be application/json.');
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return send(reply, 413, 'body_too_large', 'The request body is too large.');
  if (error.statusCode === 400 || error instanceof SyntaxError)
    return send(reply, 400, 'malformed_json', 'The request body is not valid JSON.');
  request.log.error(error);
  return send(reply, 500, 'internal_error', 'The service failed.');
}

/** Sends the Error body for a path without a route. */
export function notFoundHandler(_request, reply) {
  return send(reply, 404, 'route_not_found', 'There is no such route.');
}

function send(reply, status, code, message, details) {
  reply.code(status);
  reply.header('cache-control', 'no-store');
  const help = `</docs/errors#${code}>; rel="help"`;
  const link = reply.getHeader('link');
  reply.header('link', link === undefined ? help : `${link}, ${help}`);
  return reply.send(details === undefined ? { code, message, status } : { code, message, status, details });
}

/** Converts an error of ajv to an entry of `details` in the Error body. */
function detailOf({ instancePath, keyword, params, parentSchema }) {
  const field = instancePath.slice(1);
  const detail = (code, message, at = field) => ({ field: at, code, message });
  switch (keyword) {
    case 'required':
      return detail('required', 'This field is required.', params.missingProperty);
    case 'additionalProperties': {
      const known = Object.keys(parentSchema.properties).join(', ');
      const message = `This field is unknown; the known fields are ${known}.`;
      return detail('unknown_field', message, params.additionalProperty);
    }
    case 'enum':
      return detail('not_allowed_value', `This must be one of ${params.allowedValues.join(', ')}.`);
    case 'minimum':
    case 'maximum':
      return detail('out_of_range', `This must be from ${parentSchema.minimum} to ${parentSchema.maximum}.`);
    case 'pattern':
      return detail('blank', 'This must contain a visible character.');
    case 'maxLength':
      return detail('too_long', `This must have at most ${params.limit} characters.`);
    case 'int64':
      return detail(params.code, params.message);
    default:
      return detail(
        params.type === 'integer' ? 'not_an_integer' : `not_a_${params.type}`,
        `This must be ${params.type === 'integer' ? 'an' : 'a'} ${params.type}.`,
      );
  }
}
