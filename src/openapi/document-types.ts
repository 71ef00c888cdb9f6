import type { OpenAPIObject } from '@nestjs/swagger';

/** The parts of an OpenAPI document that @nestjs/swagger types, but does not export by name. */
export type PathItem = OpenAPIObject['paths'][string];
export type OperationObject = NonNullable<PathItem['get']>;
type ResponseOrReference = NonNullable<OperationObject['responses']['default']>;
export type ResponseObject = Extract<ResponseOrReference, { description: string }>;
export type Headers = NonNullable<NonNullable<OpenAPIObject['components']>['headers']>;
