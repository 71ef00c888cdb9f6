import { Test } from '@nestjs/testing';
import { Clock } from 'petstore-service';
import { AppModule, setupApp } from 'petstore-service/app';
import { TestClock, issueKey } from 'petstore-service/testing';
import { expect, it } from 'vitest';

it('counts by the clock of the test', async () => {
  const testing = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(Clock)
    .useValue(new TestClock('2026-12-24T18:00:00Z'))
    .compile();
  const app = setupApp(testing.createNestApplication());
  await app.listen(0);
  const { key } = await issueKey(app, { plan: 'free' });
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${await app.getUrl()}/account`, { headers });
  const reset = Date.parse('2026-12-24T18:01:00Z') / 1_000;
  expect([response.status, response.headers.get('X-RateLimit-Reset')]).toEqual([200, String(reset)]);
  await app.close();
});
