import { vi } from 'vitest';
import { ServiceAdapter } from '../../src/http/adapter/service-adapter.js';

/** Makes applications whose operations are all run by Nest, so that they can be held against those that are compiled. */
export async function byNest<T>(make: () => Promise<T>): Promise<T> {
  const compile = vi.spyOn(ServiceAdapter.prototype, 'compileOperationsOf').mockReturnValue(undefined);
  try {
    return await make();
  } finally {
    compile.mockRestore();
  }
}
