import { refuseOtherNode } from '#supported-node';

// All else is imported only then: a Node.js that does not run the service could not even load it.
refuseOtherNode();
(await import('./cli/start/heap.js')).keepHeapSmall();
(await import('./cli/start/compile-cache.js')).keepCompiled();
await import('./cli/start/launch.js');
