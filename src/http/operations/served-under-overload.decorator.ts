import { declaring } from '../../core/declared-operation.js';

/** Lets a handler respond even under overload, for cheap probes whose path has no parameters. */
export const ServedUnderOverload = (): MethodDecorator => declaring({ isServedUnderOverload: true });
