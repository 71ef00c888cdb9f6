import { Controller, Injectable, Module, Post } from '@nestjs/common';
import { expect, it } from 'vitest';
import { Cached } from '../../src/http/caching/cached.decorator.js';
import { DeclarationError } from '../../src/core/declaration-faults.js';
import { Job } from '../../src/events/jobs/job.decorator.js';
import { TestService } from './test-service.js';

@Controller({ path: 'toys', version: '1' })
class ToysController {
  @Post()
  @Cached()
  add(): object {
    return {};
  }
}

@Injectable()
class ToyJobs {
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

it('the kit rejects with every fault of what modules declare together', async () => {
  const opened = TestService.open({ modules: [ToysModule] });
  await expect(opened).rejects.toThrow(DeclarationError);
  const told = await opened.then(String, (error: Error) => error.message);
  expect(told).toBe(
    [
      'What the modules declare cannot work:',
      'ToysController.add: @Cached() works for GET alone. Remove it, or answer GET.',
      'Job "toys.sweep" is declared twice: by ToyJobs.sweep and ToyJobs.sweepAgain. Rename one of them.',
    ].join('\n'),
  );
});
