import { afterEach, vi } from 'vitest';

// A worker imports packages once for all its suites; ours is imported anew for each, since modules declare things at import.
vi.resetModules();

// Whatever a test has replaced is restored after it, also when it failed; so no suite does it itself. Spies come first: a spy on a
// fake timer would otherwise put that fake back after the real timers were restored, and every later test of the worker would wait for it.
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});
