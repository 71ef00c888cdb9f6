import { expect, it, onTestFinished } from 'vitest';
import { ApiKeysService } from '../src/accounts/api-keys.service.js';
import { SERVICE_ITSELF } from '../src/accounts/operator.js';
import { Store } from './support/store.js';

it('a key lives as long as was asked for, to the millisecond, on a clock that runs', async () => {
  const store = await Store.open();
  onTestFinished(() => store.close());
  const keys = store.app.get(ApiKeysService);
  const standing = store.clock.now.bind(store.clock);
  // Every look at the clock is a little later than the one before.
  store.clock.now = () => {
    store.clock.advance(1);
    return standing();
  };
  const lifetime = ({ createdAt, expiresAt }: { createdAt: string; expiresAt: string | null }) =>
    Date.parse(expiresAt ?? '') - Date.parse(createdAt);
  const { apiKey } = await keys.issue({ clientId: store.clientId, expires: 90_000 }, SERVICE_ITSELF);
  expect(lifetime(apiKey)).toBe(90_000);
  expect(lifetime((await keys.rotate(apiKey.id, { grace: 1_000 }, SERVICE_ITSELF)).apiKey)).toBe(90_000);
});
