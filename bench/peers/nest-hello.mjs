// A minimal Nest service with one route, as the baseline for the startup time.
import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

class HelloController {
  hello() {
    return 'hello';
  }
}
Get()(
  HelloController.prototype,
  'hello',
  Object.getOwnPropertyDescriptor(HelloController.prototype, 'hello'),
);
Controller()(HelloController);

class HelloModule {}
Module({ controllers: [HelloController] })(HelloModule);

const app = await NestFactory.create(HelloModule, { logger: false });
await app.listen(0, '127.0.0.1');
process.send?.({ port: app.getHttpServer().address().port });
