import { describeRefusals } from './support/refusal-table.js';

describeRefusals({});
