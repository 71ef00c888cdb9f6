import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { type RequestListener, createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { Body, Controller, Delete, Get, Module, Param, Post, type Type } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiCreatedResponse,
  ApiExtension,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
} from '@nestjs/swagger';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OPERATION_TABLE } from '../../src/admin/commands/operation-table.js';
import { ADMIN_SCOPE } from '../../src/admin/admin.scopes.js';
import { AuditEntry } from '../../src/auth/audit/audit-entry.entity.js';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { type AdminDocument, operationsOf } from '../../src/cli/operations/operations.js';
import type { Shell } from '../../src/cli/frame/shell.js';
import { Int64, Integer, Text } from '../../src/http/validation/fields.js';
import { makeCertificates } from '../support/certificates.js';
import { openForAll, openForTest } from '../support/opened.js';
import { jsonBy, printedBy } from '../support/orders.js';
import { ADMIN_DOCUMENT } from '../support/petstore-here.js';

class ToyParams {
  @Int64()
  toyId!: bigint;
}

class NewToyDto {
  @Text({ maxLength: 20 })
  name!: string;

  @Integer({ minimum: 0, maximum: 100, optional: true })
  price?: number;
}

class ToyDto {
  @ApiProperty({ type: 'integer', format: 'int64' })
  id!: bigint;

  @ApiProperty({ type: 'string' })
  name!: string;
}

const LARGE = 9_007_199_254_740_993n;

@Controller('admin/toys')
@RequireScopes(ADMIN_SCOPE)
class ToysController {
  @Get()
  @ApiOperation({ operationId: 'listToys', description: 'Lists the toys. All of them.' })
  @ApiOkResponse({ type: [ToyDto] })
  list(): ToyDto[] {
    return [{ id: LARGE, name: 'Ball' }];
  }

  @Post()
  @ApiOperation({ operationId: 'createToy', description: 'Creates a toy.' })
  @ApiCreatedResponse({ type: ToyDto })
  create(@Body() { name, price = 0 }: NewToyDto): ToyDto {
    return { id: BigInt(price), name };
  }

  @Delete(':toyId')
  @ApiOperation({ operationId: 'deleteToy', description: 'Deletes a toy.' })
  @ApiOkResponse({ type: ToyDto })
  delete(@Param() { toyId }: ToyParams): ToyDto {
    return { id: toyId, name: 'Ball' };
  }

  @Post(':toyId/paint')
  @ApiOperation({ operationId: 'paintToy', description: 'Paints a toy.' })
  @ApiExtension('x-command', 'toy colour')
  @ApiCreatedResponse({ type: ToyDto })
  paint(@Param() { toyId }: ToyParams): ToyDto {
    return { id: toyId, name: 'Red ball' };
  }

  @Post(':toyId/picture')
  @ApiOperation({ operationId: 'showToy', description: 'Takes a picture.' })
  @ApiConsumes('multipart/form-data')
  @ApiBody({ schema: { type: 'object', properties: { file: { type: 'string', format: 'binary' } } } })
  picture(@Param() _: ToyParams): void {}
}

const moduleOf = (...controllers: readonly Type[]): Type => {
  @Module({ controllers: [...controllers] })
  class ToysModule {}
  return ToysModule;
};

const service = await openForAll({ modules: [moduleOf(ToysController)] });
const { key: admin } = await service.issueKey({ scopes: ['admin', 'pets:read', 'pets:write'] });
const client = (await json('client create --name Acme --plan free')).id as string;
const issued = (await json(`key issue --client ${client}`)) as { id: string; key: string };

const command = (line: string, shell?: Partial<Shell>) => printedBy(service, line.split(' '), shell);
function json(line: string) {
  return jsonBy(service, line.split(' '));
}

describe('our own operations', () => {
  const { paths, components } = ADMIN_DOCUMENT;
  const propertiesOf = (schema: { $ref?: string; items?: object; properties?: object } = {}): string[] => {
    const named = components.schemas[schema.$ref?.split('/').at(-1) ?? ''] as typeof schema | undefined;
    const { items } = named ?? schema;
    return items ? propertiesOf(items) : Object.keys((named ?? schema).properties ?? {});
  };
  const all = Object.values(paths).flatMap((item) => Object.values(item));

  it.each(all.map((one) => [one.operationId, one] as const))('%s has words in the table', (id) => {
    expect(Object.values(OPERATION_TABLE).filter(({ operation }) => operation === id)).not.toEqual([]);
  });

  it.each(operationsOf(ADMIN_DOCUMENT).map((one) => [one.command, one] as const))(
    '%s: a list has columns, which are properties of its response, and what cannot be undone a question',
    (words, { facts, isList, method, path }) => {
      expect(OPERATION_TABLE).toHaveProperty([words]);
      if (isList) expect(facts.columns).toBeDefined();
      if (method === 'delete' || /delete|revoke/.test(words)) expect(facts.question).toBeDefined();
      const responses = paths[path]?.[method]?.responses ?? {};
      const content = (responses['200'] ?? responses['201'])?.content?.['application/json'];
      const columns = facts.columns?.replaceAll('?', '').split(' ') ?? [];
      expect(propertiesOf(content?.schema)).toEqual(expect.arrayContaining(columns));
    },
  );
});

describe('an operation that a module adds below /admin', () => {
  it('is a command without a declared name, by its path and method', async () => {
    expect(await json('toys list')).toEqual([{ id: Number(LARGE), name: 'Ball' }]);
    expect((await command('toys list')).stdout).toBe(`ID                NAME\n${LARGE}  Ball\n`);
    expect(await json('toys create --name Ball --price 7')).toEqual({ id: 7, name: 'Ball' });
    expect((await command('toys create --name Ball --price x')).stderr).toMatch(/^--price: This must be/);
    expect(operationsOf(service.adminDocument as object as AdminDocument)).not.toContainEqual(
      expect.objectContaining({ path: '/toys/{toyId}/picture' }),
    );
  });

  it('prompts before a DELETE, and has the name that it declares', async () => {
    expect(await command('toys delete 7')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--yes'),
    });
    expect(await json('toys delete 7 --yes')).toEqual({ id: 7, name: 'Ball' });
    expect(await json('toy colour 7')).toEqual({ id: 7, name: 'Red ball' });
  });

  it.each([
    [
      'of the same words',
      'toys/list',
      undefined,
      /OtherController.handle: "petstore toys list" is also the command of/,
    ],
    ['of our words', 'other', 'key revoke', /"petstore key revoke" is also the command of/],
    ['of one word', 'other', 'paint', /"paint" cannot be a command\. Use two words/],
    ['of words of another command', 'other', 'db migrate', /"db migrate" cannot be a command/],
  ])('stops the start with another one %s', async (_, path, words, fault) => {
    @Controller(`admin/${path}`)
    @RequireScopes(ADMIN_SCOPE)
    class OtherController {
      handle(): object {
        return {};
      }
    }
    const handler = Object.getOwnPropertyDescriptor(OtherController.prototype, 'handle') ?? {};
    const verb = words === undefined ? Post('/') : Get(':id');
    for (const decorate of [verb, ApiOperation({ operationId: 'other' })])
      decorate(OtherController.prototype, 'handle', handler);
    if (words !== undefined) ApiExtension('x-command', words)(OtherController.prototype, 'handle', handler);
    await expect(openForTest({ modules: [moduleOf(ToysController, OtherController)] })).rejects.toThrow(
      fault,
    );
  });
});

const READS = [
  ['client list', '/admin/clients'],
  [`client show ${client} --days 2`, `/admin/clients/${client}?days=2`],
  ['plan list', '/admin/plans'],
  [`key list --client ${client}`, `/admin/keys?client=${client}`],
  [`key show ${issued.id}`, `/admin/keys/${issued.id}`],
  ['scope list', '/admin/scopes'],
  ['usage list --name Acme', '/admin/usage?name=Acme'],
  [`request list --client ${client}`, `/admin/requests?client=${client}`],
  ['audit list', '/admin/audit?limit=100'],
  ['webhook list', '/admin/webhooks'],
  ['webhook events', '/admin/webhook-events'],
  ['toys list', '/admin/toys'],
] as const;

it.each(READS)('%s --json is the response over HTTP', async (line, path) => {
  expect(await json(line)).toEqual((await service.request('GET', path, { key: admin })).body);
});

it('a command leaves nothing but its audit entry, which has the user and the machine', async () => {
  const seen = () => service.metric('http_requests_total');
  const before = await seen();
  await json(`client rename ${client} --name Acme2`);
  await json(`client rename ${client} --name Acme`);
  expect((await command('client show nobody')).code).toBe(1);
  expect(await seen()).toBe(before);
  const [entry] = await service.repository(AuditEntry).find({ order: { id: 'DESC' }, take: 1 });
  expect(entry).toMatchObject({ actor: 'command_line', from: expect.stringMatching(/.@./), requestId: null });
});

/** With the admin key on standard input, which is no terminal. */
const withKey: Partial<Shell> = { readLine: () => Promise.resolve(admin) };
/** A command of one line on a service at an address. */
const at = (url: string, line: string, shell: Partial<Shell> = withKey) =>
  printedBy(
    service,
    (line.startsWith('audit') ? `--url ${url} --key - ${line}` : `${line} --url ${url} --key -`).split(' '),
    {
      openApp: () => Promise.reject(new Error('It is not in this process.')),
      ...shell,
    },
  );

describe('--url', () => {
  it.each([
    ...READS.map(([line]) => line),
    'client list --json',
    `key show ${issued.key}`,
    `key show ${issued.key.slice(0, 13)}`,
    'client show nobody',
    'key show 0f8fad5b-d9cb-469f-a165-70867728950e',
    'client create --name A --plan gold',
    `client delete ${client}`,
  ])('%s has the same output and exit code as in this process', async (line) => {
    expect(await at(service.url, line)).toEqual(await command(line));
  });

  it('changes what the key may change, and records the key', async () => {
    const made = await at(service.url, 'client create --name Far --plan pro --issue-key --json');
    const { id, key } = JSON.parse(made.stdout) as { id: string; key: { scopes: string[] } };
    // A key cannot hand on what it does not hold.
    expect(key.scopes).toEqual(['pets:read', 'pets:write']);
    const [, entry] = await service.repository(AuditEntry).find({ order: { id: 'DESC' }, take: 2 });
    expect(entry).toMatchObject({ action: 'client.created', actor: 'key', clientId: id });
    expect(await at(service.url, `client delete ${id} --yes`)).toMatchObject({ code: 0 });
  });

  it('precedes the words where an option has its name', async () => {
    const remote = ['--url', service.url, '--key', '-', 'audit', 'list', '--key', issued.id, '--json'];
    expect(JSON.parse((await printedBy(service, remote, withKey)).stdout)).toHaveLength(1);
    const local = await printedBy(service, ['--url', service.url, 'db', 'status']);
    expect(local).toMatchObject({ code: 2, stderr: expect.stringContaining('on the database itself') });
  });

  it('reads the key from PETSTORE_KEY, and prompts a person without echo', async () => {
    const line = ['client', 'list', '--url', service.url];
    expect(await printedBy(service, line)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('PETSTORE_KEY'),
    });
    const requested: unknown[] = [];
    const prompt = (...question: unknown[]) => Promise.resolve((requested.push(question), admin));
    expect((await printedBy(service, line, { prompt })).code).toBe(0);
    expect(requested).toEqual([['Key: ', 'hidden']]);
    process.env['PETSTORE_KEY'] = admin;
    onTestFinished(() => void delete process.env['PETSTORE_KEY']);
    expect((await printedBy(service, line)).code).toBe(0);
  });

  it.each(['http://pets.example.com', 'ftp://127.0.0.1', 'https://user:pass@127.0.0.1', 'nonsense'])(
    '%s is refused before a key is read',
    async (url) => {
      const readLine = () => Promise.reject(new Error('It was read.'));
      expect(await at(url, 'client list', { readLine })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('must be an https URL'),
      });
    },
  );

  it('accepts no key as an argument, nor a key without a URL', async () => {
    for (const line of [`client list --url ${service.url} --key ${admin}`, 'client list --key -']) {
      const { code, stderr } = await command(line);
      expect([code, stderr.includes(admin)]).toEqual([2, false]);
    }
  });
});

it('--ca names an authority that is trusted in addition, and without it no key is sent to a server of that', async () => {
  const folder = await makeCertificates();
  const [cert, key] = await Promise.all(
    ['server.crt', 'server.key'].map((file) => readFile(join(folder, file))),
  );
  const arrived: unknown[] = [];
  const server = createTlsServer({ cert, key }, ({ headers }, response) => {
    arrived.push(headers.authorization);
    response.setHeader('Content-Type', 'application/json').end('[]');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void [server.close(), rm(folder, { recursive: true })]);
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  expect(await at(url, 'client list')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/certificate/),
  });
  expect(arrived).toEqual([]);
  expect(await at(url, `client list --ca ${join(folder, 'ca.crt')}`)).toMatchObject({ code: 0, stderr: '' });
  expect(arrived).toEqual([`Bearer ${admin}`]);
});

describe('a service at an address that is not one', () => {
  /** Listens, and notes what arrives. */
  async function listening(respond: RequestListener) {
    const arrived: string[] = [];
    const server = createServer((request, response) => {
      arrived.push(`${request.method} ${request.url}`);
      respond(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return { arrived, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/` };
  }

  it('is not followed where it redirects', async () => {
    const other = await listening((_, response) => response.end('[]'));
    const { url, arrived } = await listening((_, response) =>
      response.writeHead(307, { location: `${other.url}admin/clients` }).end(),
    );
    expect(await at(url, 'client list')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not followed'),
    });
    expect([arrived.length, other.arrived.length]).toEqual([1, 0]);
    expect(arrived[0]).toBe('GET /base/admin/clients?limit=100');
  });

  it('gets a change once, though it does not respond', async () => {
    const { url, arrived } = await listening(({ socket }) => socket.destroy());
    expect(await at(url, 'client create --name A --plan free')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The change may have been made'),
    });
    expect(arrived).toEqual(['POST /base/admin/clients']);
  });

  it('never gets a key that is looked for, and its page is no result', async () => {
    const { url, arrived } = await listening((_, response) => response.writeHead(502).end('<html>'));
    expect(await at(url, `key show ${issued.key}`)).toMatchObject({ code: 1, stdout: '' });
    expect(arrived.join()).not.toContain(issued.key.slice(13));
  });
});

it('a key with the same first characters as another is not confused with it', async () => {
  const { id, key } = await service.issueKey();
  const rest = key.slice(0, 13) + '0'.repeat(26);
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const digitOf = (place: number) => digits[Math.floor(crc32(rest) / 62 ** place) % 62];
  const other = rest + [5, 4, 3, 2, 1, 0].map(digitOf).join('');
  expect(await command(`key verify ${other}`)).toMatchObject({ code: 0 });
  expect(await command(`key revoke ${other} --yes`)).toMatchObject({
    code: 1,
    stderr: 'There is no key with this secret.\n',
  });
  expect(await json(`key show ${id}`)).toMatchObject({ revokedAt: null });
});
