import { Body, Controller, Module, Post, UploadedFile, UseInterceptors } from '@nestjs/common';
import { FileInterceptor, NoFilesInterceptor } from '@nestjs/platform-express';
import { ApiConsumes, ApiProperty } from '@nestjs/swagger';
import { describe, expect, it } from 'vitest';
import { Consumes } from '../../src/http/body/consumes.decorator.js';
import { Text } from '../../src/http/validation/fields.js';
import { described } from '../support/described.js';
import { openForAll } from '../support/opened.js';

class NewCard {
  @Text({ description: 'What is on it', maxLength: 100, optional: true })
  title?: string;

  @ApiProperty({ type: 'string', format: 'binary', required: false })
  photo?: unknown;
}

class CardDto {
  @ApiProperty({ required: false })
  title?: string;

  @ApiProperty({ required: false })
  file?: string;
}

/** Nothing of its bodies is required, so that whatever gets lost makes a 201. */
@Controller({ path: 'cards', version: '1' })
class CardsController {
  @Post()
  @Consumes('multipart/form-data')
  @UseInterceptors(FileInterceptor('photo'))
  @described('addCard', { status: 201, type: CardDto })
  add(@UploadedFile() photo: { buffer: Buffer } | undefined, @Body() { title }: NewCard): CardDto {
    return cardOf(title, photo);
  }

  @Post('photos')
  @Consumes('multipart/form-data')
  @UseInterceptors(FileInterceptor('photo'))
  @described('addPhotoAlone', { status: 201, type: CardDto })
  addPhoto(@UploadedFile() photo: { buffer: Buffer } | undefined): CardDto {
    return cardOf(undefined, photo);
  }

  @Post('texts')
  @ApiConsumes('multipart/form-data', 'application/json', 'application/x-www-form-urlencoded')
  @UseInterceptors(NoFilesInterceptor())
  @described('addText', { status: 201, type: CardDto })
  addText(@Body() { title }: NewCard): CardDto {
    return cardOf(title, undefined);
  }

  @Post('unread')
  @Consumes('multipart/form-data')
  @described('addUnread', { status: 201, type: CardDto })
  addUnread(@Body() card?: NewCard): CardDto {
    return cardOf(card?.title, undefined);
  }
}

function cardOf(title: string | undefined, photo: { buffer: Buffer } | undefined): CardDto {
  return { ...(title === undefined ? {} : { title }), ...(photo ? { file: photo.buffer.toString() } : {}) };
}

@Module({ controllers: [CardsController] })
class CardsModule {}

const service = await openForAll({ modules: [CardsModule] });

async function post(path: string, type: string, body: string | Buffer) {
  return service.request('POST', `/v1/cards${path}`, { body, headers: { 'content-type': type } });
}

const TITLE = 'Content-Disposition: form-data; name="title"';
const PHOTO = 'Content-Disposition: form-data; name="photo"; filename="a.png"';
const BYTES = `${PHOTO}\r\nContent-Type: application/octet-stream`;
/** A form of parts, each with its header and its content. */
const form = (boundary: string, ...parts: readonly (readonly [header: string, content: string])[]): string =>
  `${parts.map(([header, content]) => `--${boundary}\r\n${header}\r\n\r\n${content}\r\n`).join('')}--${boundary}--\r\n`;

describe('the Content-Type of a form', () => {
  it.each([
    ['multipart/form-data; boundary=x', 'x'],
    ['multipart/form-data; boundary=x;', 'x'],
    ['multipart/form-data; boundary=x; ;', 'x'],
    ['multipart/form-data;; boundary=x', 'x'],
    ['multipart/form-data ; boundary=x', 'x'],
    ['multipart/form-data;boundary=x ;charset=utf-8', 'x'],
    ['multipart/form-data;\tboundary=x\t', 'x'],
    ['multipart/form-data; charset=utf-8; boundary=x', 'x'],
    ['multipart/form-data; note="a; boundary=y"; boundary=x', 'x'],
    ['multipart/form-data; flag; boundary=x', 'x'],
    ['multipart/form-data; boundary="x"', 'x'],
    ['multipart/form-data; boundary="x";', 'x'],
    [String.raw`multipart/form-data; boundary="\x"`, 'x'],
    ['multipart/form-data; boundary="a b"', 'a b'],
    ['multipart/form-data; boundary=a b', 'a b'],
    ['Multipart/Form-Data; Boundary=X', 'X'],
    ['MULTIPART/FORM-DATA; BOUNDARY="x"', 'x'],
    ["multipart/form-data; boundary=----=_Part_0:1/2?(a),'b'+c_-.", "----=_Part_0:1/2?(a),'b'+c_-."],
    [`multipart/form-data; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
  ])('%s is read', async (type, boundary) => {
    const { status, body } = await post('', type, form(boundary, [TITLE, 'Rex'], [PHOTO, 'png']));
    expect([status, body]).toEqual([201, { title: 'Rex', file: 'png' }]);
  });

  it.each([
    ['multipart/form-data', 'x'],
    ['multipart/form-data;', 'x'],
    ['multipart/form-data; boundary', 'boundary'],
    ['multipart/form-data; boundary=', ''],
    ['multipart/form-data; boundary=""', ''],
    ['multipart/form-data; boundary=;', ''],
    ['multipart/form-data; boundary="x', 'x'],
    ['multipart/form-data; boundary="x"y', 'x'],
    ['multipart/form-data; boundary="x "', 'x '],
    ['multipart/form-data; boundary=x; boundary=y', 'x'],
    ['multipart/form-data; boundary=x; Boundary=x', 'x'],
    ['multipart/form-data; boundary=é', 'é'],
    ['multipart/form-data; boundary=a@b', 'a@b'],
    ['multipart/form-data; boundary="a;b"', 'a;b'],
    [`multipart/form-data; boundary=${'x'.repeat(71)}`, 'x'.repeat(71)],
    [`multipart/form-data; boundary=${'x'.repeat(5_000)}`, 'x'.repeat(5_000)],
    ["multipart/form-data; boundary*=utf-8''x", 'x'],
  ])('%s is refused', async (type, boundary) => {
    const { status, body } = await post('', type, form(boundary, [TITLE, 'Rex'], [PHOTO, 'png']));
    expect([status, body.code]).toEqual([400, 'malformed_request']);
    expect(body.message).toContain('boundary');
  });

  it.each(['multipart/mixed; boundary=x', 'multipart/form-data, text/plain; boundary=x', 'multipart'])(
    'that is %s is unsupported',
    async (type) => {
      const { status, body } = await post('', type, form('x', [TITLE, 'Rex']));
      expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
    },
  );
});

describe('a form', () => {
  const TYPE = 'multipart/form-data; boundary=x';

  it.each([
    ['of no part', form('x'), {}],
    ['without a line break after it', `--x\r\n${TITLE}\r\n\r\nRex\r\n--x--`, { title: 'Rex' }],
    ['after a line break', `\r\n${form('x', [TITLE, 'Rex'])}`, { title: 'Rex' }],
    ['whose header is folded', form('x', [TITLE.replace(' name', '\r\n name'), 'Rex']), { title: 'Rex' }],
    [
      'whose name is a token',
      form('x', ['content-disposition:Form-Data;name=title', 'Rex']),
      { title: 'Rex' },
    ],
    [
      'with a charset',
      form('x', [`${TITLE}\r\nContent-Type: text/plain; charset=utf8`, 'Zoë']),
      { title: 'Zoë' },
    ],
    ['without a chosen file', form('x', [BYTES.replace('a.png', ''), '']), {}],
    [
      'with an extended file name',
      form('x', [`Content-Disposition: form-data; name="photo"; filename*=UTF-8''%e2%82%ac.png`, 'png']),
      { file: 'png' },
    ],
    [
      'in ISO-8859-1',
      Buffer.from(
        form('x', [`${TITLE}\r\nContent-Type: text/plain; charset=ISO-8859-1`, 'Zo\u00eb']),
        'latin1',
      ),
      { title: 'Zoë' },
    ],
    [
      'whose file name has a folder',
      form('x', [PHOTO.replace('a.png', String.raw`C:\a.png`), 'png']),
      { file: 'png' },
    ],
    [
      'whose content is like a boundary',
      form('x', [PHOTO, '\r\n-x\r\n--y\r\n--X--']),
      { file: '\r\n-x\r\n--y\r\n--X--' },
    ],
    ['with a large file', form('x', [PHOTO, 'a'.repeat(50_000)]), { file: 'a'.repeat(50_000) }],
  ])('%s is read', async (_, sent, received) => {
    const { status, body } = await post('', TYPE, sent);
    expect([status, body]).toEqual([201, received]);
  });

  it.each([
    ['with another boundary', form('y', [TITLE, 'Rex'])],
    ['with text before it', `title=Rex\r\n${form('x')}`],
    ['with a part after its end', form('x') + form('x', [TITLE, 'Rex'])],
    ['of lines that end in LF', form('x', [TITLE, 'Rex']).replaceAll('\r\n', '\n')],
    ['whose first line ends in LF', form('x', [TITLE, 'Rex']).replace('\r\n', '\n')],
    ['whose boundary has more', form('x', [TITLE, 'Rex']).replace('--x', '--xy')],
    ['whose last boundary has more', form('x', [TITLE, 'Rex']).replace('--x--', '--x-')],
    ['without its end', `--x\r\n${TITLE}\r\n\r\nRex\r\n`],
    ['without its end after a part', `--x\r\n${TITLE}\r\n\r\nRex\r\n--x\r\n`],
    ['whose file has no end', `--x\r\n${PHOTO}\r\n\r\npng`],
    ['of a part without a header', form('x', ['', 'Rex'])],
    ['of a part without Content-Disposition', form('x', ['Content-Type: text/plain', 'Rex'])],
    ['of a part that is an attachment', form('x', [TITLE.replace('form-data', 'attachment'), 'Rex'])],
    ['of a part with two of them', form('x', [`${TITLE}\r\n${PHOTO}`, 'Rex'])],
    ['of a part without a name', form('x', ['Content-Disposition: form-data', 'Rex'])],
    ['of a part with an empty name', form('x', [TITLE.replace('title', ''), 'Rex'])],
    ['of a part with two names', form('x', [`${TITLE}; name="color"`, 'Rex'])],
    [
      'of a part with an extended name',
      form('x', ["Content-Disposition: form-data; name*=utf-8''title", 'Rex']),
    ],
    ['of a part whose parameters are malformed', form('x', [`${TITLE};`, 'Rex'])],
    ['of a part with a name that has no end', form('x', [TITLE.slice(0, -1), 'Rex'])],
    ['of a part with a malformed header', form('x', [`${TITLE}\r\nno colon`, 'Rex'])],
    ['of a part with many headers', form('x', [`${'a:\r\n'.repeat(3_000)}${TITLE}`, 'Rex'])],
    ['of a file without a name', form('x', [BYTES.replace('a.png', ''), 'png'])],
    ['of a file whose name is a folder', form('x', [PHOTO.replace('a.png', 'a/'), 'png'])],
    ['of bytes without a file name', form('x', [BYTES.replace(/; filename="a.png"/, ''), 'png'])],
    [
      'with a malformed extended file name',
      form('x', [`Content-Disposition: form-data; name="photo"; filename*=UTF-8''%e2%8`, 'png']),
    ],
    [
      'with a file name in an unknown charset',
      form('x', [`Content-Disposition: form-data; name="photo"; filename*=x''a`, 'png']),
    ],
    ...[
      String.raw`filename="a\."`,
      String.raw`filename="a\.."`,
      String.raw`filename="a\\"`,
      "filename*=UTF-8''a%2f",
      "filename*=UTF-8''a%5C",
      "filename*=UTF-8''%2E",
      "filename*=UTF-8''%2e.",
      "filename*=UTF-8''a.png; filename*=UTF-8''",
      `filename="a.png"; note*=a`,
    ].map((parameters): [string, string] => [
      `of a file with ${parameters}`,
      form('x', [`Content-Disposition: form-data; name="photo"; ${parameters}`, 'png']),
    ]),
    ['of a text with a malformed extended parameter', form('x', [`${TITLE}; note*=a`, 'Rex'])],
    [
      'within a form',
      form('x', [`${TITLE}\r\nContent-Type: multipart/mixed; boundary=y`, form('y', [PHOTO, 'png'])]),
    ],
    ['in an unknown charset', form('x', [`${TITLE}\r\nContent-Type: text/plain; charset=klingon`, 'Rex'])],
    ...['koi8-r', 'windows-1251', 'windows-1252', 'shift_jis', 'utf-16be', 'base64'].map(
      (charset): [string, string] => [
        `in ${charset}`,
        form('x', [`${TITLE}\r\nContent-Type: text/plain; charset=${charset}`, 'Rex=']),
      ],
    ),
    [
      'that is not UTF-8, with a malformed type',
      Buffer.from(
        form('x', [`${TITLE}\r\nContent-Type: text/plain; charset=ISO-8859-1;`, 'Zo\u00eb']),
        'latin1',
      ),
    ],
    ['that is not UTF-8', Buffer.from(form('x', [TITLE, 'Zo\u00eb']), 'latin1')],
    ['in base64', form('x', [`${TITLE}\r\nContent-Transfer-Encoding: base64`, 'UmV4'])],
    ['with a prototype', form('x', [TITLE.replace('title', '__proto__'), 'Rex'])],
    ['with a prototype inside', form('x', [TITLE.replace('title', 'title[__proto__][a]'), 'Rex'])],
  ])('%s is malformed', async (_, sent) => {
    const { status, body } = await post('', TYPE, sent);
    expect([status, body.code]).toEqual([400, 'malformed_request']);
  });

  it.each([
    ['a file instead of a text', '', form('x', [PHOTO.replace('photo', 'title'), 'png']), 'title'],
    ['a text instead of a file', '', form('x', [TITLE.replace('title', 'photo'), 'png']), 'photo'],
    ['two files instead of one', '', form('x', [PHOTO, 'a'], [PHOTO, 'b']), 'photo'],
    ['a text twice', '', form('x', [TITLE, 'a'], [TITLE, 'b']), 'title'],
    ['a constructor', '', form('x', [TITLE.replace('title', 'constructor'), 'Rex']), 'constructor'],
    ['a file where none is declared', '/texts', form('x', [PHOTO, 'png']), 'photo'],
    ['a text where none is declared', '/photos', form('x', [TITLE, 'Rex'], [PHOTO, 'png']), 'title'],
  ])('with %s is invalid', async (_, path, sent, field) => {
    const { status, body } = await post(path, TYPE, sent);
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(body.details.map((fault: { field: string }) => fault.field)).toEqual([field]);
  });

  it('whose length is 0 is malformed', async () => {
    const { status, body } = await post('', TYPE, '');
    expect([status, body.code]).toEqual([400, 'malformed_request']);
  });

  it.each(Array.from({ length: 60 }, (_, at) => at + 1))('in pieces of %d bytes is read', async (length) => {
    const sent = Buffer.from(form('x', [TITLE, 'Zoë'], [PHOTO, '\r\n--\r\n']));
    const pieces = Array.from({ length: Math.ceil(sent.length / length) }, (_, at) =>
      sent.subarray(at * length, (at + 1) * length),
    );
    const { status, body } = await service.request('POST', '/v1/cards', {
      body: ReadableStream.from(pieces),
      headers: { 'content-type': TYPE },
    });
    expect([status, body]).toEqual([201, { title: 'Zoë', file: '\r\n--\r\n' }]);
  });
});

describe('a handler that accepts several types', () => {
  it.each([
    ['multipart/form-data; boundary=x', form('x', [TITLE, 'Rex']), 201],
    ['application/json', '{"title":"Rex"}', 201],
    ['application/json', '{"title":', 400],
    ['application/x-www-form-urlencoded', 'title=Rex', 415],
  ])('has its body read of %s', async (type, sent, status) => {
    const response = await post('/texts', type, sent);
    expect(response.status).toBe(status);
    if (status === 201) expect(response.body).toEqual({ title: 'Rex' });
  });

  it('and has nothing that reads them loses nothing', async () => {
    const { status } = await post('/unread', 'multipart/form-data; boundary=x', form('x', [TITLE, 'Rex']));
    expect(status).toBe(415);
  });
});
