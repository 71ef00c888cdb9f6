// The built service with a durable listener, for suites that kill it. The listener appends the events that it receives to heard.txt. With
// PUBLISH, the service publishes two events, each with an animal, and DIE specifies when the process is killed. Plain JavaScript without a
// build step, so it does not use decorator syntax.
import 'reflect-metadata';
import { appendFileSync } from 'node:fs';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { AppModule } from '../../dist.suites/dist/src/app.module.js';
import { setupApp } from '../../dist.suites/dist/src/app.setup.js';
import { DomainEvents, OnDomainEvent, defineEvent } from '../../dist.suites/dist/src/events/domain-events.js';
import { ServiceAdapter } from '../../dist.suites/dist/src/http/server/service-adapter.js';
import { Pet } from '../../dist.suites/dist/src/pets/pet.entity.js';

const { DIE, PUBLISH } = process.env;
const die = (when) => DIE === when && process.kill(process.pid, 'SIGKILL');

const PET_SOLD = defineEvent('pet.sold', { durable: true, key: ({ petId }) => petId });

class Recorder {
  record({ petId, step }) {
    appendFileSync('heard.txt', `${typeof petId} ${petId} ${step}\n`);
    die('while the listener handles the first');
  }
}
const method = Object.getOwnPropertyDescriptor(Recorder.prototype, 'record');
OnDomainEvent(PET_SOLD, { listener: 'recorder' })(Recorder.prototype, 'record', method);

class Root {}
Module({ imports: [AppModule], providers: [Recorder] })(Root);

const app = setupApp(await NestFactory.create(Root, new ServiceAdapter(), { logger: false }));
await app.listen(0, '127.0.0.1');
if (PUBLISH) {
  await app.get(DataSource).transaction(async (manager) => {
    for (const step of ['first', 'second']) {
      await manager.insert(Pet, { name: step, categoryId: 1n, status: 'sold' });
      // Without types, the linter does not recognize the event as durable.
      // eslint-disable-next-line typescript/await-thenable
      await app.get(DomainEvents).publish(PET_SOLD, { petId: 7n, step });
    }
    die('before the commit');
  });
  die('between commit and delivery');
}
process.stdout.write(`Listening on http://127.0.0.1:${app.getHttpServer().address().port}\n`);
