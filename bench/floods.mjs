// The floods of `npm run bench:hostile`, each in a separate process: node bench/floods.mjs <flood> <url> <key>
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';

/** Duration of floods that do not end by themselves, in milliseconds. */
const LASTS_MS = 4_000;
const END = '\r\n\r\n';

/** The floods by name: functions of the service's URL and a valid key. */
export const FLOODS = {
  'nobody attacks': () => pause(LASTS_MS),
  '20 × 1,200 requests for the script of the docs, never read': (at) =>
    unread(at, `GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a${END}`, 1_200),
  '20 × 1,200 requests for readiness, never read': (at) =>
    unread(at, `GET /health/ready HTTP/1.1\r\nHost: a${END}`, 1_200),
  '2,000 × one response that is not read': (at) =>
    unread(at, `GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a${END}`, 1, 2_000),
  '2,000 × 64 heads of 15 kB behind a response that is not read': async (at) => {
    const large = `GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a${END}`;
    const waiting = `GET /x HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(15_000)}${END}`.repeat(64);
    await unread(at, large + waiting, 1, 2_000);
  },
  '2,000 × 2,000 small heads behind a response that is not read': async (at) => {
    const large = `GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a${END}`;
    await unread(at, large + `GET /x HTTP/1.1\r\nHost: a${END}`.repeat(2_000), 1, 2_000);
  },
  '10 × 2,000 keys that nobody issued': unknownKeys,
  '20,000 requests of a valid key at once': (at, key) =>
    sendAll(
      at,
      1,
      Array(20_000).fill(`GET /v1/pets?limit=20 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}`),
    ),
  '20 × a body without end, with a key': (at, key) =>
    endless(
      at,
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked${END}`,
      `10000\r\n${' '.repeat(65_536)}\r\n`,
    ),
  '16 a second: 99 kB of white space around a new animal': (at, key) => posts(at, key, spaces),
  '16 a second: 99 kB in the status of a new animal': (at, key) => posts(at, key, nested),
  '20 × 2^53 bytes announced and sent, without a key': (at) =>
    endless(
      at,
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: 9007199254740992${END}`,
      ' '.repeat(65_536),
    ),
  '20 × white space without end in a head': (at) =>
    endless(at, 'GET / HTTP/1.1\r\nHost: a\r\nX:', ' '.repeat(65_536)),
  '1,000 × half a head': async (at) => {
    const sockets = await Promise.all(Array.from({ length: 1_000 }, () => open(at)));
    for (const socket of sockets) socket.write('GET /v1/pets HTTP/1.1\r\nHost: a\r\n');
    await pause(LASTS_MS);
    for (const socket of sockets) socket.destroy();
  },
};

const NEW_PET = '"name":"Biscuit","categoryId":1';
const spaces = `{${NEW_PET}${' '.repeat(99_000)}}`;
const nested = `{${NEW_PET},"status":{${Array.from({ length: 10_000 }, (_, at) => `"m${at}":1`).join(',')}}}`;

async function posts({ href }, key, body) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sent = [];
  for (let at = 0; at < (LASTS_MS / 1_000) * 16; at += 1) {
    sent.push(fetch(new URL('/v1/pets', href), { method: 'POST', headers, body }).then((one) => one.text()));
    await pause(1_000 / 16);
  }
  await Promise.all(sent);
}

async function open({ hostname, port }) {
  const socket = connect(Number(port), hostname);
  socket.on('error', () => socket.destroy());
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
  return socket;
}

/** Sends the same bytes the given number of times on each connection, and reads nothing. Opens 100 connections every 0.1 s. */
async function unread(at, bytes, times, connections = 20) {
  const sockets = [];
  while (sockets.length < connections) {
    const count = Math.min(100, connections - sockets.length);
    const opened = await Promise.all(Array.from({ length: count }, () => open(at)));
    for (const socket of opened) socket.pause().write(bytes.repeat(times));
    sockets.push(...opened);
    await pause(100);
  }
  await pause(LASTS_MS);
  for (const socket of sockets) socket.destroy();
}

async function unknownKeys(at) {
  const { generateApiKey } = await import('../dist/src/auth/api-key.format.js');
  const requests = Array.from(
    { length: 2_000 },
    () => `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${generateApiKey('live')}`,
  );
  await sendAll(at, 10, requests);
}

/** Pipelines all requests on each of the given number of connections, and reads until the server closes them. */
async function sendAll(at, connections, requests) {
  const text = `${requests.join(END)}${END}GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close${END}`;
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(at)));
  await Promise.all(
    sockets.map(async (socket) => {
      socket.resume().write(text);
      await new Promise((resolve) => socket.once('close', resolve));
    }),
  );
}

/** Sends a head and then the same chunk repeatedly. Opens a new connection whenever the server closes one. */
async function endless(at, head, piece) {
  const until = performance.now() + LASTS_MS;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (performance.now() < until) {
        const socket = await open(at);
        socket.resume().write(head);
        while (!socket.destroyed && performance.now() < until)
          if (!socket.write(piece)) await drained(socket);
        socket.destroy();
      }
    }),
  );
}

/** Resolves when the socket can accept more data or is closed. */
function drained(socket) {
  return new Promise((resolve) => {
    const end = () => {
      socket.off('drain', end).off('close', end);
      resolve();
    };
    socket.on('drain', end).on('close', end);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , flood, url, key] = process.argv;
  process.send('begins');
  await FLOODS[flood](new URL(url), key);
  process.disconnect();
}
