import { Controller, Get, Module } from '@nestjs/common';
import { SkipThrottle, Throttle } from '@nestjs/throttler';
import { beforeEach, describe, expect, it } from 'vitest';
import { QUOTA_THRESHOLD } from '../../src/throttling/throttling.events.js';
import { openForAll, openForTest } from '../support/opened.js';

@Controller({ path: 'plain', version: '1' })
class PlainController {
  @Get()
  plain(): object {
    return {};
  }

  @Get('free')
  @SkipThrottle()
  free(): object {
    return {};
  }

  @Get('nightly')
  @SkipThrottle({ day: true })
  nightly(): object {
    return {};
  }
}

@Controller({ path: 'rare', version: '1' })
@Throttle({ minute: { limit: 3, ttl: 20_000 } })
class RareController extends PlainController {}

@Controller({ path: 'hourly', version: '1' })
class HourlyController {
  @Get()
  @Throttle({ minute: { limit: 1, ttl: 3_600_000 } })
  hourly(): object {
    return {};
  }

  @Get('long')
  @Throttle({ minute: { ttl: 7_200_000 } })
  long(): object {
    return {};
  }

  @Get('other')
  @Throttle({ minute: { ttl: 7_200_000 } })
  other(): object {
    return {};
  }
}

@Controller({ path: 'free', version: '1' })
@SkipThrottle()
class FreeController {
  @Get()
  listed(): object {
    return {};
  }

  @Get('counted')
  @SkipThrottle({ default: false })
  counted(): object {
    return {};
  }

  @Get('both')
  @SkipThrottle({ minute: false, day: false })
  both(): object {
    return {};
  }

  @Get('by-day')
  @SkipThrottle({ day: false })
  byDay(): object {
    return {};
  }

  @Get('limited')
  @Throttle({ minute: { limit: 5, ttl: 60_000 } })
  limited(): object {
    return {};
  }
}

/** Inherits what its parent skips, and says another word of the day. */
@Controller({ path: 'heir', version: '1' })
@SkipThrottle({ day: false })
class HeirController extends FreeController {}

@Controller({ path: 'undone', version: '1' })
@SkipThrottle({ default: false })
class UndoneController extends FreeController {}

@Controller({ path: 'by-name', version: '1' })
@SkipThrottle({ minute: true })
class ByNameController {
  @Get('skipped')
  skipped(): object {
    return {};
  }

  @Get('undone')
  @SkipThrottle({ default: false })
  undone(): object {
    return {};
  }

  @Get('limited')
  @Throttle({ minute: { limit: () => 2 } })
  limited(): object {
    return {};
  }
}

@Module({
  controllers: [
    PlainController,
    RareController,
    HourlyController,
    FreeController,
    HeirController,
    UndoneController,
    ByNameController,
  ],
})
class RoutesModule {}

const service = await openForAll({ modules: [RoutesModule], at: '2026-11-20T12:00:00.000Z' });
let key: string;
beforeEach(async () => void ({ key } = await service.issueKey({ plan: 'free' })));

/** What the headers say of the windows. Not by way of service.request(): what counts nowhere has no such headers. */
const limits = async (path: string) => {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${service.url}/v1/${path}`, { headers })).headers.get('ratelimit');
};

describe('a route', () => {
  it('shares the limit of its controller with no other route', async () => {
    expect(await limits('rare')).toBe('"minute";r=2;t=20, "day";r=999;t=43200');
    expect(await limits('rare/nightly')).toBe('"minute";r=2;t=20');
    expect(await limits('rare')).toBe('"minute";r=1;t=20, "day";r=998;t=43200');
  });

  it.each(['plain/free', 'free'])('counts nowhere with @SkipThrottle: %s', async (path) => {
    expect(await limits(path)).toBeNull();
    expect(await limits('plain')).toBe('"minute";r=59;t=60, "day";r=999;t=43200');
  });

  it('counts although its controller does not, where it says so itself', async () => {
    expect(await limits('free/counted')).toBe('"minute";r=59;t=60, "day";r=999;t=43200');
  });

  const MINUTE = '"minute";r=59;t=60';
  const DAY = '"day";r=999;t=43200';

  it.each([
    ['free/both', `${MINUTE}, ${DAY}`],
    ['free/by-day', DAY],
    ['free/limited', '"minute";r=4;t=60'],
    ['heir', DAY],
    ['heir/both', `${MINUTE}, ${DAY}`],
    ['heir/limited', `"minute";r=4;t=60, ${DAY}`],
    ['undone', `${MINUTE}, ${DAY}`],
    ['by-name/skipped', DAY],
    ['by-name/undone', `${MINUTE}, ${DAY}`],
    ['by-name/limited', `"minute";r=1;t=60, ${DAY}`],
  ])(
    'counts where its method says so, then where its class does, then its parent: %s',
    async (path, counted) => {
      expect(await limits(path)).toBe(counted);
    },
  );

  it('publishes no threshold of its own window, but those of the day of the client', async () => {
    const own = await openForTest({
      modules: [RoutesModule],
      plan: 'enterprise',
      limits: { perMinute: 60, perDay: 4 },
    });
    const published = own.collect(QUOTA_THRESHOLD);
    for (const path of ['rare', 'rare', 'rare', 'plain']) await own.request('GET', `/v1/${path}`);
    await expect
      .poll(() => published.map(({ window, percent }) => [window, percent]))
      .toEqual([
        ['day', 80],
        ['day', 100],
      ]);
  });

  it('names the length of its window where it is no minute', async () => {
    expect(await limits('hourly')).toBe('"minute";r=0;t=3600, "day";r=999;t=43200');
    const refused = await service.request('GET', '/v1/hourly', { key });
    expect(refused.body.message).toBe('Rate limit of 1 request per hour exceeded; retry in 3600 s.');
  });

  it('shares its window with no other route if it sets only the length', async () => {
    expect(await limits('hourly/long')).toBe('"minute";r=59;t=7200, "day";r=999;t=43200');
    expect(await limits('hourly/other')).toBe('"minute";r=59;t=7200, "day";r=998;t=43200');
  });
});
