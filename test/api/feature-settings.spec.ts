import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { afterEach, expect, it } from 'vitest';
import { defineSettings } from '../../src/core/config/define-settings.js';
import { httpUrl, wholeNumber } from '../../src/core/config/setting.js';
import { Settings } from '../../src/core/config/settings.js';
import { TestService } from '../kit/test-service.js';
import { openForTest } from '../support/opened.js';

const KENNELS_SETTINGS = defineSettings('kennels', {
  reservationMs: {
    type: wholeNumber(1_000, 86_400_000),
    default: 600_000,
    description: 'How long an animal stays reserved, in milliseconds.',
  },
});

@Injectable()
class Reservations {
  readonly ms: number;

  constructor(settings: Settings) {
    this.ms = settings.of(KENNELS_SETTINGS).reservationMs;
  }
}

@Controller({ path: 'reservations', version: '1' })
class ReservationsController {
  constructor(private readonly reservations: Reservations) {}

  @Get()
  get(): object {
    return { ms: this.reservations.ms };
  }
}

@Module({ controllers: [ReservationsController], providers: [Reservations] })
class ReservationsModule {}

it('injects the settings of a feature, and a test sets them by its environment', async () => {
  const environment = { KENNELS_RESERVATION_MS: '5000' };
  const service = await openForTest({ modules: [ReservationsModule], environment });
  expect((await service.request('GET', '/v1/reservations')).body).toEqual({ ms: 5_000 });
});

it('does not start with faulty settings of a feature, and names all of both', async () => {
  const environment = { KENNELS_RESERVATION_MS: '5s', PORT: 'x' };
  await expect(TestService.open({ environment })).rejects.toMatchObject({
    problems: [expect.stringMatching(/^PORT/), expect.stringMatching(/^KENNELS_RESERVATION_MS/)],
  });
});

afterEach(() => void delete process.env.KENNELS_RESERVATION_MS);

it('starts in a test by the example of a required setting, and stops when it is taken away', async () => {
  const settings = {
    url: { type: httpUrl, required: true, example: 'http://den', description: 'A den.' },
  } as const;
  const declared = defineSettings('dens', settings);
  const service = await openForTest();
  expect(service.app.get(Settings).of(declared).url).toBe('http://den');
  await expect(TestService.open({ environment: { DENS_URL: '' } })).rejects.toThrow(
    'DENS_URL: not set; it must be a URL that begins with http:// or https://.',
  );
});
