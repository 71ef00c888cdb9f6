import { ConsoleLogger, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { isPhoneNumber } from 'class-validator';
import type { Request, Response } from 'express';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';

@Module({})
class Root {}

/** "Привет" in windows-1251. */
const PRIVET = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);

describe('what the bundle leaves to be loaded when it is called works as before:', () => {
  it('@IsPhoneNumber()', () => {
    expect(isPhoneNumber('+41 44 668 18 00')).toBe(true);
    expect(isPhoneNumber('044 668 18 00', 'CH')).toBe(true);
    expect(isPhoneNumber('+41 44 668 18 00', 'US')).toBe(false);
    expect(isPhoneNumber('+41 1')).toBe(false);
  });

  it('a document of Swagger in YAML', async () => {
    const app = await NestFactory.create(Root, { logger: false });
    onTestFinished(() => app.close());
    const document = new DocumentBuilder().setTitle('Ours: "quoted"').build();
    SwaggerModule.setup('swagger', app, SwaggerModule.createDocument(app, document));
    await app.listen(0, '127.0.0.1');
    const response = await fetch(`${await app.getUrl()}/swagger-yaml`);
    expect(await response.text()).toContain(`title: 'Ours: "quoted"'`);
  });

  it('a body in a charset other than UTF-8', async () => {
    const app = await NestFactory.create<NestExpressApplication>(Root, { logger: false, bodyParser: false });
    onTestFinished(() => app.close());
    app.useBodyParser('text');
    app.use((request: Request, response: Response) => void response.send(request.body));
    await app.listen(0, '127.0.0.1');
    const headers = { 'Content-Type': 'text/plain; charset=windows-1251', Connection: 'close' };
    const response = await fetch(await app.getUrl(), { method: 'POST', headers, body: PRIVET });
    expect(await response.text()).toBe('Привет');
  });

  it.each([
    { type: 'mysql', needs: 'Mysql package has not been found' },
    { type: 'mongodb', needs: 'MongoDB package has not been found' },
    { type: 'cockroachdb', needs: undefined },
  ] as const)('a second database, of $type', ({ type, needs }) => {
    const made = () => new DataSource({ type, database: 'other' } as DataSourceOptions);
    if (needs === undefined) expect(made().options.type).toBe(type);
    else expect(made).toThrow(needs);
  });

  it("the times of Nest's own loggers", () => {
    class Named extends ConsoleLogger {
      now(): string {
        return this.getTimestamp();
      }
    }
    for (const time of [new Named().now(), Logger.getTimestamp()])
      expect(time).toContain(String(new Date().getFullYear()));
  });
});
