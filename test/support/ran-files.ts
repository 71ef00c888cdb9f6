import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './service-process.js';

/** The files in src, relative to src, of which V8 executed a function during `action`. */
export async function ranFiles(action: () => Promise<unknown>): Promise<readonly string[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage');
    await action();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
      .map(({ url }) => (url.startsWith('file:') ? fileURLToPath(url) : url))
      .filter((file) => file.startsWith(join(ROOT, 'src/')))
      .map((file) => file.slice(join(ROOT, 'src/').length));
  } finally {
    session.disconnect();
  }
}
