import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import {
  ConsoleLogger,
  Controller,
  Logger,
  Module,
  Post,
  UploadedFile,
  UseInterceptors,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FileInterceptor, type NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { isPhoneNumber } from 'class-validator';
import type { Request, Response } from 'express';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ROOT } from '../support/service-process.js';

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

  it('an uploaded file', async () => {
    @Controller()
    class Uploads {
      @Post()
      @UseInterceptors(FileInterceptor('photo'))
      take(@UploadedFile() { originalname, size }: { originalname: string; size: number }): string {
        return `${originalname}: ${size}`;
      }
    }

    @Module({ controllers: [Uploads] })
    class UploadModule {}
    const app = await NestFactory.create(UploadModule, { logger: false });
    onTestFinished(() => app.close());
    await app.listen(0, '127.0.0.1');
    const body = new FormData();
    body.append('photo', new Blob(['12345']), 'rex.png');
    const headers = { Connection: 'close' };
    const response = await fetch(await app.getUrl(), { method: 'POST', headers, body });
    expect(await response.text()).toBe('rex.png: 5');
  });

  it('a second database with a pattern of file names, whose SQL is formatted in its log', async () => {
    const printed = (['info', 'log'] as const).map((level) => vi.spyOn(console, level).mockReturnValue());
    onTestFinished(() => printed.forEach((spy) => spy.mockRestore()));
    const dataSource = new DataSource({
      type: 'sqlite',
      database: ':memory:',
      entities: [join(ROOT, 'test/support/no-such-*.entity.js')],
      logger: 'formatted-console',
      logging: ['info', 'query'],
    });
    await dataSource.initialize();
    onTestFinished(() => dataSource.destroy());
    await dataSource.query('SELECT 1 AS one, 2 AS two');
    const text = stripVTControlCharacters(printed.flatMap((spy) => spy.mock.calls.flat()).join('\n'));
    expect(text).toContain('No classes were found using the provided glob pattern');
    expect(text).toMatch(/1 AS one,\n\s+2 AS two/);
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
