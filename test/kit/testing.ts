/**
 * The test kit for features and packages, `petstore-service/testing`. It requires @nestjs/testing and openapi-response-validator, which a
 * package that uses the kit must list in its own devDependencies.
 */
export { TestService, type TestServiceOptions } from './test-service.js';
export type { TestResponse, RequestOptions } from './test-response.js';
export { TestClock } from './test-clock.js';
export { Contract, type ApiDocument } from './contract.js';
export { type Fixture, defineFixture } from './fixture.js';
export { type KeyOptions, issueKey } from './issued-key.js';
export { unindexedLists } from './unindexed-lists.js';

// The guards, the pipe and the filter of every request, so that tests can override them: `testing.overrideProvider(ApiKeyGuard)`.
export { ApiKeyGuard } from '../../src/auth/api-key.guard.js';
export { ScopesGuard } from '../../src/auth/scopes.guard.js';
export { BodyGuard } from '../../src/http/chain/body.guard.js';
export { DeprecationHeadersGuard, SunsetGuard } from '../../src/http/deprecation/deprecation.guards.js';
export { ErrorFilter } from '../../src/http/replies/error.filter.js';
export { RequestHeadGuard } from '../../src/http/chain/request-head.guard.js';
export { ValidationPipe } from '../../src/http/validation/validation.pipe.js';
export { QuotaGuard } from '../../src/throttling/quota.guard.js';
