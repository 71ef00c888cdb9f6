/**
 * The test kit, for the suites of features and of packages: `petstore-service/testing`. It needs @nestjs/testing and
 * openapi-response-validator, which are devDependencies of the service: a package that uses it has them as its own.
 */
export { TestService, type TestServiceOptions } from './test-service.js';
export type { Answer, RequestOptions } from './answer.js';
export { TestClock } from './test-clock.js';
export { Contract, type DocumentBelow } from './contract.js';
export { type Fixture, defineFixture } from './fixture.js';
export { type KeyOptions, issueKey } from './issued-key.js';
export { unindexedLists } from './unindexed-lists.js';
