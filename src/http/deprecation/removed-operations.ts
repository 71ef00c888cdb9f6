import { Injectable } from '@nestjs/common';
import { Clock } from '../../clock.js';
import { Settings } from '../../config/settings.js';
import { DEPRECATION, type Deprecation } from './deprecated.decorator.js';
import { effectiveSunset } from './effective-sunset.js';

/** Knows which operations are past their sunset: they are no methods of their paths any more, although they answer 410. */
@Injectable()
export class RemovedOperations {
  constructor(
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** Whether the operation of a handler, or of what Nest has registered for it, is removed. */
  has(handler: object): boolean {
    const deprecation = Reflect.getMetadata(DEPRECATION, handler) as Deprecation | undefined;
    return deprecation !== undefined && effectiveSunset(deprecation, this.settings) <= this.clock.now();
  }
}
