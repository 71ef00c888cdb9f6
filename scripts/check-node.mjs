// Ends with a sentence where this Node.js does not run the service; `npm test` starts with it, because what runs the suites cannot say so.
import { refuseOtherNode } from '../bin/supported-node.js';

refuseOtherNode();
