// Validation and serialization in peers/fastify-equal.mjs: the schemas of its routes, and support for 64-bit integers, which JSON.parse and ajv
// lack.
import Ajv from 'ajv';
import { parse, parseNumberAndBigInt } from 'lossless-json';

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/** The keyword `int64`: a 64-bit integer as a JavaScript number or bigint (`number`), or in decimal text (`text`). */
const int64 = { keyword: 'int64', errors: true, validate: validateInt64 };

function validateInt64(form, value) {
  const isInteger =
    form === 'text' ? /^-?\d+$/.test(value) : typeof value === 'bigint' || Number.isSafeInteger(value);
  const isInRange = isInteger && BigInt(value) >= MIN && BigInt(value) <= MAX;
  if (isInRange) return true;
  const params = isInteger
    ? { code: 'out_of_range', message: `This must be from ${MIN} to ${MAX}.` }
    : {
        code: 'not_an_integer',
        message: `This must be an integer${form === 'text' ? ' in decimal' : ''}.`,
      };
  validateInt64.errors = [{ keyword: 'int64', params }];
  return false;
}

const options = { allErrors: true, verbose: true, useDefaults: true, keywords: [int64] };
const strict = new Ajv(options);
const coercing = new Ajv({ ...options, coerceTypes: true });

/** Values from the URL are converted to the type in the schema. Values in a body are not. */
export function validatorCompiler({ schema, httpPart }) {
  return (httpPart === 'body' ? strict : coercing).compile(schema);
}

/** Parses a body without rounding integers. Uses Fastify's own parser, `parseJson`, for bodies without large numbers. */
export function exactJson(parseJson) {
  return (request, text, done) => {
    if (!/\d{16}/.test(text)) return parseJson(request, text, done);
    try {
      return done(null, parse(text, undefined, parseNumberAndBigInt));
    } catch (error) {
      error.statusCode = 400;
      return done(error);
    }
  };
}

const status = { type: 'string', enum: ['available', 'pending', 'sold'] };

/** An animal as returned. The serializer writes bigint values exactly. */
export const pet = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status: { type: 'string' },
  },
};

/** An animal to add. */
export const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', maxLength: 255, pattern: String.raw`[^\s]` },
    categoryId: { int64: 'number' },
    status: { ...status, default: 'available' },
  },
};

/** The query of the list. */
export const listQuery = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    status,
    cursor: { type: 'string' },
  },
};

/** The path of one animal. */
export const petParams = { type: 'object', properties: { petId: { type: 'string', int64: 'text' } } };
