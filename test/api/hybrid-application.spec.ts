import { expect, it } from 'vitest';
import { openForTest } from '../support/opened.js';

it('a microservice that inherits the configuration of HTTP is refused', async () => {
  const opened = openForTest({ prepare: (app) => app.connectMicroservice({}, { inheritAppConfig: true }) });
  await expect(opened).rejects.toThrow(
    'connectMicroservice(…, { inheritAppConfig: true }): the global guards, pipes and filters of the service are for HTTP.',
  );
});
