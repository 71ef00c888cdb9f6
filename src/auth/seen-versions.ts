import type { Versions } from '../database/data-version.js';
import { RequestSlot } from '../core/request-slot.js';

/**
 * The versions that the key of a request was found to be current at: they were asked for after the request had arrived, so that
 * they do for its answer, too. To ask again costs a system call.
 */
export const SEEN_VERSIONS = new RequestSlot<Versions>();
