import { describe, expect, it, onTestFinished } from 'vitest';
import { breakPets } from '../support/break-pets.js';
import { sendRaw } from '../support/raw-http.js';
import { emptyFolder, ServiceProcess } from '../support/service-process.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE}-${SPAN}-01`;

/** The service as a process, with the key of its demo data. */
async function start(): Promise<{ service: ServiceProcess; folder: string; key: string }> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  const service = await ServiceProcess.start(path);
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return { service, folder: path, key: /pst_test_\w{36}/.exec(service.output)?.[0] ?? '' };
}

/** The lines of the log that have a member of this value. */
const linesWith = ({ output }: ServiceProcess, member: string, value: unknown) =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line[member] === value);

describe('the ids of the caller’s trace', () => {
  it('are in the line of a request with a well-formed traceparent, and in no other', async () => {
    const { service } = await start();
    const headersOf: Record<string, Record<string, string>> = {
      traced: { traceparent: TRACEPARENT, tracestate: 'vendor=1' },
      bare: {},
      malformed: { traceparent: TRACEPARENT.toUpperCase() },
      twice: { traceparent: `${TRACEPARENT}, ${TRACEPARENT}` },
    };
    for (const [id, headers] of Object.entries(headersOf))
      await fetch(`${service.url}/v1/pets`, { headers: { ...headers, 'x-request-id': id } });
    await expect.poll(() => linesWith(service, 'requestId', 'twice').length).toBe(1);
    const idsOf = (id: string) =>
      linesWith(service, 'requestId', id).map(({ traceId, spanId, status }) => [traceId, spanId, status]);
    expect(Object.keys(headersOf).map(idsOf)).toEqual([
      [[TRACE, SPAN, 401]],
      [[undefined, undefined, 401]],
      [[undefined, undefined, 401]],
      [[undefined, undefined, 401]],
    ]);
  });

  it('are in every other line of the request, and not in those of the next on its connection', async () => {
    const { service, folder, key } = await start();
    await breakPets(folder);
    const get = (headers: string) =>
      `GET /v1/pets?${headers.length} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${headers}\r\n`;
    // Sent at once: the second waits for the first, and begins when that has ended.
    await sendRaw(
      service.url,
      get(`traceparent: ${TRACEPARENT}\r\nX-Request-Id: traced\r\n`) +
        get('X-Request-Id: bare\r\nConnection: close\r\n'),
    );
    await expect.poll(() => linesWith(service, 'requestId', 'bare').length).toBe(1);
    expect(linesWith(service, 'status', 500).map(({ requestId, traceId }) => [requestId, traceId])).toEqual([
      ['traced', TRACE],
      ['bare', undefined],
    ]);
    expect(linesWith(service, 'context', 'Errors').map(({ traceId, spanId }) => [traceId, spanId])).toEqual([
      [TRACE, SPAN],
      [undefined, undefined],
    ]);
  });
});
