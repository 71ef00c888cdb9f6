import { expect, it } from 'vitest';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { KeyIssuingService } from '../../src/auth/clients/key-issuing.service.js';
import { openForTest } from '../support/opened.js';

it('a key lives exactly as long as requested, to the millisecond, on a running clock', async () => {
  const service = await openForTest();
  const keys = service.app.get(KeyIssuingService);
  const standing = service.clock.now.bind(service.clock);
  // Every look at the clock is a little later than the one before.
  service.clock.now = () => {
    service.clock.advance(1);
    return standing();
  };
  const lifetime = ({ createdAt, expiresAt }: { createdAt: string; expiresAt: string | null }) =>
    Date.parse(expiresAt ?? '') - Date.parse(createdAt);
  const { apiKey } = await keys.issue({ clientId: service.clientId, expires: 90_000 }, SERVICE_ITSELF);
  expect(lifetime(apiKey)).toBe(90_000);
  expect(lifetime((await keys.rotate(apiKey.id, { grace: 1_000 }, SERVICE_ITSELF)).apiKey)).toBe(90_000);
});
