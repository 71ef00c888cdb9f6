import { Controller, Module, Post } from '@nestjs/common';
import { expect, it } from 'vitest';
import { Cached } from '../../src/http/caching/cached.decorator.js';
import { DeclarationError } from '../../src/core/declaration-faults.js';
import { TestService } from './test-service.js';

@Controller({ path: 'toys', version: '1' })
class ToysController {
  @Post()
  @Cached()
  add(): object {
    return {};
  }
}

@Module({ controllers: [ToysController] })
class ToysModule {}

it('the kit rejects with what modules declare wrongly', async () => {
  const opened = TestService.open({ modules: [ToysModule] });
  await expect(opened).rejects.toThrow(DeclarationError);
  await expect(opened).rejects.toThrow('ToysController.add: @Cached() works for GET alone.');
});
