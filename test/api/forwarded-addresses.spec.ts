import { Controller, Get, Module, Req } from '@nestjs/common';
import type { Request } from 'express';
import { expect, it, vi } from 'vitest';
import { Public } from '../../src/auth/auth.decorators.js';
import { AppLogger } from '../../src/core/logging/app-logger.js';
import { openForTest } from '../support/opened.js';

@Controller('addresses')
class AddressesController {
  @Get()
  @Public()
  get(@Req() { ip, ips }: Request): object {
    return { ip, ips };
  }
}

@Module({ controllers: [AddressesController] })
class AddressesModule {}

const open = (proxies: string) =>
  openForTest({
    modules: [AddressesModule],
    environment: proxies === '' ? {} : { TRUST_PROXY: proxies, LOG_LEVEL: 'fatal' },
  });

it.each([
  ['', '203.0.113.7:51234', '127.0.0.1', []],
  ['1', '203.0.113.7:51234', '203.0.113.7', ['203.0.113.7']],
  ['1', '[2001:db8::7]:443', '2001:db8::7', ['2001:db8::7']],
  ['2', '1.2.3.4:5, [2001:db8::7]', '1.2.3.4', ['1.2.3.4', '2001:db8::7']],
  ['1', 'unknown', '127.0.0.1', []],
  ['3', '1.2.3.4, _hidden, 10.0.0.1:80', '10.0.0.1', ['10.0.0.1']],
])('with TRUST_PROXY=%s a handler sees of %s the address %s', async (proxies, field, ip, ips) => {
  const service = await open(proxies);
  const { body } = await service.request('GET', '/addresses', {
    key: null,
    headers: { 'x-forwarded-for': field },
  });
  expect(body).toEqual({ ip, ips });
});

it('what is no address is reported once, if a trusted proxy sends it', async () => {
  const service = await open('127.0.0.1');
  const warn = vi.spyOn(service.app.get(AppLogger), 'warn');
  const send = (field: string) =>
    service.request('GET', '/v1/pets', { key: null, headers: { 'x-forwarded-for': field } });
  // Left of an address that is not trusted, its sender has written it.
  await send('unknown, 1.2.3.4');
  expect(warn).not.toHaveBeenCalled();
  await send('unknown');
  await send('_hidden');
  expect(warn.mock.calls).toEqual([[expect.stringContaining('TRUST_PROXY'), 'Proxy']]);
});
