import { vi } from 'vitest';
import { ServiceAdapter } from '../../src/http/adapter/service-adapter.js';

/** Makes applications in which Nest runs all operations, so that tests can compare them with compiled operations. */
export async function byNest<T>(make: () => Promise<T>): Promise<T> {
  const compile = vi.spyOn(ServiceAdapter.prototype, 'compileOperationsOf').mockReturnValue(undefined);
  try {
    return await make();
  } finally {
    compile.mockRestore();
  }
}
