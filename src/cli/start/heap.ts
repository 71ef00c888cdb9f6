// What the service needs of Node.js itself is loaded first: V8 takes none of the code that Node.js brings compiled under other options.
import 'node:child_process';
import 'node:crypto';
import 'node:https';
import 'node:perf_hooks';
import 'node:worker_threads';
import 'node:zlib';
import v8 from 'node:v8';

/** How much the heap grows beyond what is in use before it is collected, in percent of that. */
const GROWTH_PERCENT = 100;

/** What is set, by the name of V8's option (`node --v8-options`). */
const OPTIONS: Readonly<Record<string, string>> = {
  // V8 takes sites of literals for long-lived whose objects all survived once, as under the first load, and from then on makes them in the
  // old generation. Such an object of each request keeps the whole request there until the next full collection.
  'allocation-site-pretenuring': '--no-allocation-site-pretenuring',
  'heap-growing-percent': `--heap-growing-percent=${GROWTH_PERCENT}`,
};

/**
 * Has V8 keep little but what is in use (docs/decisions/0033-heap.md). To be called before the service is loaded: compiled code is kept
 * for the options that it was made under. An option of V8 that the process was started with stays as it is.
 */
export function keepHeapSmall(): void {
  const given = new Set(
    process.execArgv.map((argument) =>
      argument.replaceAll('_', '-').replace(/^--(?:no-?)?([^=]*).*$/s, '$1'),
    ),
  );
  for (const [name, option] of Object.entries(OPTIONS)) if (!given.has(name)) v8.setFlagsFromString(option);
}
