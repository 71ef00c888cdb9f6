import { Controller, Injectable, Module, Post } from '@nestjs/common';
import { expect, it } from 'vitest';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { Cached } from '../../src/http/caching/cached.decorator.js';
import { DeclarationError } from '../../src/core/declaration-faults.js';
import { Job } from '../../src/events/jobs/job.decorator.js';
import { TestService } from './test-service.js';

@Controller({ path: 'toys', version: '1' })
class ToysController {
  @Post()
  @RequireScopes('toys:write' as never)
  @Cached()
  add(): object {
    return {};
  }
}

@Injectable()
class ToyJobs {
  @Job({ name: 'toys.count', every: 10 })
  count(): Promise<void> {
    return Promise.resolve();
  }

  @Job({ name: 'toys.sweep', at: '03:00' })
  sweep(): Promise<void> {
    return Promise.resolve();
  }

  @Job({ name: 'toys.sweep', at: '04:00' })
  sweepAgain(): Promise<void> {
    return Promise.resolve();
  }
}

@Module({ controllers: [ToysController], providers: [ToyJobs] })
class ToysModule {}

it('the kit rejects with every fault of what modules declare, those of decorators too', async () => {
  const opened = TestService.open({ modules: [ToysModule] });
  await expect(opened).rejects.toThrow(DeclarationError);
  const told = await opened.then(String, (error: Error) => error.message);
  expect(told).toBe(
    [
      'What the modules declare cannot work:',
      'ToysController.add: @RequireScopes() is given "toys:write", which is no declared scope. Give it what defineScopes() has made.',
      'ToyJobs.count: the job "toys.count" has every: 10, which is not a whole number of milliseconds from 1 s (1_000) to 366 days.',
      'ToysController.add: @Cached() works for GET alone. Remove it, or answer GET.',
      'Job "toys.sweep" is declared twice: by ToyJobs.sweep and ToyJobs.sweepAgain. Rename one of them.',
    ].join('\n'),
  );
});
