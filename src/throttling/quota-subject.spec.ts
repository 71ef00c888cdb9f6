import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Request } from 'express';
import { expect, it } from 'vitest';
import { addressSubject, clientIdOfSubject, clientSubjectId, quotaSubjectOf } from './quota-subject.js';

/** A request as Express has it behind a trusted proxy, which forwards the address. */
const requestFrom = (ip?: string) => {
  const request = new IncomingMessage(new Socket());
  if (ip !== undefined) request.headers['x-forwarded-for'] = ip;
  return Object.assign(request, { ip }) as unknown as Request;
};

it('is the address of a request until its client is known', () => {
  const request = requestFrom('192.0.2.7');
  expect(quotaSubjectOf(request)).toEqual({ id: 'address:192.0.2.7', plan: 'anonymous', perMinute: 60 });
  const client = { id: clientSubjectId('shop'), plan: 'free', perMinute: 60, perDay: 1_000 };
  request.quotaSubject = client;
  expect(quotaSubjectOf(request)).toBe(client);
});

it('is one subject for all whose address is gone', () => {
  expect(quotaSubjectOf(requestFrom()).id).toBe(addressSubject('').id);
});

it('tells a client from an address, and gives its id back', () => {
  expect(clientSubjectId('shop')).toBe('client:shop');
  expect(clientIdOfSubject(clientSubjectId('shop'))).toBe('shop');
  expect(clientIdOfSubject(addressSubject('192.0.2.7').id)).toBeUndefined();
  expect(clientIdOfSubject('an address of client:shop')).toBeUndefined();
});

it('is one /56 of IPv6', () => {
  expect(addressSubject('2001:db8:1:200::1').id).toBe(addressSubject('2001:db8:1:2ff:9::1').id);
  expect(addressSubject('2001:db8:1:200::1').id).not.toBe(addressSubject('2001:db8:1:300::1').id);
});
