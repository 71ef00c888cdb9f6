// The built service, as main starts it, with server-sent events and a WebSocket, for suites that stop it while both are open. It
// has no build step, so no decorator syntax.
import 'reflect-metadata';
import { Controller, Module, Sse } from '@nestjs/common';
import { NestApplication } from '@nestjs/core';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { interval, map } from 'rxjs';
import { AppModule } from '../../dist/src/app.module.js';
import { Operation } from '../../dist/src/http/operation.decorator.js';

function decorate(type, method, ...decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(type.prototype, method);
  for (const decorator of decorators) decorator(type.prototype, method, descriptor);
}

class NewsController {
  news() {
    return interval(20).pipe(map((at) => ({ data: `event ${at}` })));
  }
}
decorate(
  NewsController,
  'news',
  Operation({
    id: 'news',
    summary: 'News',
    description: 'For a test.',
    answers: { status: 200, description: 'The news', contentType: 'text/event-stream' },
  }),
  Sse(),
);
Controller({ path: 'news', version: '1' })(NewsController);

class ChatGateway {
  echo(data) {
    return { event: 'echo', data };
  }
}
decorate(ChatGateway, 'echo', SubscribeMessage('echo'));
WebSocketGateway({ path: '/v1/chat' })(ChatGateway);

class StreamingModule {}
Module({ controllers: [NewsController], providers: [ChatGateway] })(StreamingModule);

// What a line in setupApp() does.
const init = Reflect.get(NestApplication.prototype, 'init');
NestApplication.prototype.init = function () {
  this.useWebSocketAdapter(new WsAdapter(this));
  return Reflect.apply(init, this, []);
};

Reflect.defineMetadata('imports', [...Reflect.getMetadata('imports', AppModule), StreamingModule], AppModule);
await import('../../dist/src/main.js');
