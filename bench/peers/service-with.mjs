// This service with one thing more that every request passes: started as main.js starts it, but for signals and first start.
// SERVICE_WITH names the thing.
import 'reflect-metadata';
import helmet from 'helmet';
import { tap } from 'rxjs';
import { createApp } from '../../dist/src/app.setup.js';

class OrdinaryInterceptor {
  intercept(_context, next) {
    return next.handle().pipe(tap(() => undefined));
  }
}

const THINGS = {
  nothing: () => undefined,
  'an interceptor': (app) => app.useGlobalInterceptors(new OrdinaryInterceptor()),
  'five interceptors': (app) =>
    app.useGlobalInterceptors(...Array.from({ length: 5 }, () => new OrdinaryInterceptor())),
  'a middleware': (app) => app.use((_request, _response, next) => next()),
  'a middleware that sets 12 headers': (app) =>
    app.use((_request, response, next) => {
      for (let header = 0; header < 12; header += 1)
        response.setHeader(`X-Header-${header}`, 'a value of some length');
      next();
    }),
  helmet: (app) => app.use(helmet()),
};

const app = await createApp();
THINGS[process.env.SERVICE_WITH](app);
await app.listen(0, '127.0.0.1');
process.send({ port: app.getHttpServer().address().port });
