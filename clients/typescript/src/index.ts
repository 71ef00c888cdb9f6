export {
  PetstoreClient,
  type PetsOperations,
  type AccountOperations,
  type KeysOperations,
} from './petstore-client.js';
export type { ClientOptions, RetryOptions } from './options.js';
export type { Quota } from './answers.js';
export type { Int64Form, Int64Input, Int64Of } from './int64.js';
export { PagedList, type Page } from './paged-list.js';
export {
  ConnectionError,
  PetstoreClientError,
  PetstoreError,
  TimeoutError,
  UnexpectedResponseError,
  type FaultDetail,
  type Refusal,
  type UnexpectedResponse,
} from './errors.js';
export * from './generated/errors.js';
export type * from './types.js';
