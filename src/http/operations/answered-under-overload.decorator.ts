import { declaring } from '../../core/declared-operation.js';

/** Lets a handler respond even under overload: for cheap probes, whose path has no parameters. */
export const AnsweredUnderOverload = (): MethodDecorator => declaring({ isServedUnderOverload: true });
