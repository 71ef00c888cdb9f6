import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Pet } from 'petstore-service/pets';
import { TestService, defineFixture } from 'petstore-service/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AdoptionsModule } from './adoptions.module.js';

/** An id that a double cannot represent. */
const PET_ID = 9_007_199_254_740_993n;
const PET = defineFixture(Pet, (number) => ({
  id: PET_ID + BigInt(number - 1),
  name: `Pet ${number}`,
  categoryId: 1n,
  status: 'available',
}));

let service: TestService;
let receiver: Server;
/** The bodies of the received messages, in order. */
let received: string[];
beforeEach(async () => {
  received = [];
  receiver = createServer((message, response) => void take(message, response));
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  service = await TestService.open({
    modules: [AdoptionsModule],
    scopes: ['account', 'adoptions:read', 'adoptions:write', 'adoptions:decide'],
    environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' },
  });
});
afterEach(async () => {
  await service.close();
  receiver.closeAllConnections();
  receiver.close();
});

async function take(message: IncomingMessage, response: ServerResponse): Promise<void> {
  received.push(await text(message));
  response.writeHead(204).end();
}

/** Requests an adoption; returns its id. */
async function request(petId: bigint): Promise<number> {
  const { body } = await service.request('POST', '/v1/adoptions', {
    json: `{"petId":${petId},"adopterName":"Ada"}`,
  });
  return body.id as number;
}

const decide = (id: number, state: string) =>
  service.request('PATCH', `/v1/adoptions/${id}`, { json: { state }, headers: { 'if-match': '*' } });

it('adoptions.decided comes to an endpoint, in order, with its integers exact', async () => {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const endpoint = { url, events: ['adoptions.decided'] };
  expect((await service.request('POST', '/account/webhooks', { json: endpoint })).status).toBe(201);
  for (const state of ['approved', 'declined', 'expired']) {
    const id = await request((await service.add(PET)).id);
    expect((await decide(id, state)).status).toBe(200);
  }
  await expect.poll(() => received.length).toBe(3);
  const data = received.map((body) => body.slice(body.indexOf('"data":')));
  expect(data).toEqual([
    '"data":{"id":1,"petId":9007199254740993,"state":"approved"}}',
    '"data":{"id":2,"petId":9007199254740994,"state":"declined"}}',
    '"data":{"id":3,"petId":9007199254740995,"state":"expired"}}',
  ]);
});
