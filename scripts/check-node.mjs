// Exits with a message if this version of Node.js is not supported. Runs before `npm test`, because vitest would fail without a clear error.
import { refuseOtherNode } from '../bin/supported-node.js';

refuseOtherNode();
