import { Controller, Module } from '@nestjs/common';
import { ClientProxyFactory, MessagePattern, Payload, Transport } from '@nestjs/microservices';
import { firstValueFrom } from 'rxjs';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.js';
import { openForTest } from '../support/opened.js';

/** As in Nest's documentation of microservices. */
@Controller()
class MathController {
  @MessagePattern({ cmd: 'sum' })
  accumulate(@Payload() data: number[]): number {
    return data.reduce((a, b) => a + b, 0);
  }
}
@Module({ controllers: [MathController] })
class MathModule {}

it('a hybrid application serves HTTP with keys, and messages without', async () => {
  const options = { host: '127.0.0.1', port: await freePort() };
  const service = await openForTest({
    modules: [MathModule],
    prepare: async (app) => {
      app.connectMicroservice({ transport: Transport.TCP, options });
      await app.startAllMicroservices();
    },
  });
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  onTestFinished(() => client.close());
  expect(await firstValueFrom(client.send({ cmd: 'sum' }, [1, 2, 3]))).toBe(6);
  expect((await service.request('GET', '/v1/pets')).status).toBe(200);
  expect((await service.request('GET', '/v1/pets', { key: null })).status).toBe(401);
});

it('a microservice that inherits the configuration of HTTP is refused', async () => {
  const opened = openForTest({
    modules: [MathModule],
    prepare: (app) => app.connectMicroservice({ transport: Transport.TCP }, { inheritAppConfig: true }),
  });
  await expect(opened).rejects.toThrow(
    'connectMicroservice(…, { inheritAppConfig: true }): the global guards, pipes and filters of the service are for HTTP.',
  );
});
