import { afterEach, vi } from 'vitest';

// Whatever a test has replaced is restored after it, also when it failed. Spies come first: a spy on a fake timer would
// otherwise put that fake back after the real timers were restored, and every later test would wait for it.
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});
