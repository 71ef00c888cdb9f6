import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { Client } from '../../src/auth/clients/client.entity.js';
import type { TestService } from '../kit/test-service.js';

/**
 * Adds the clients `Client 0`, `Client 1`, and so on, each created one second after the previous one. Every tenth has the plan business.
 */
export async function insertMany(service: TestService, count: number): Promise<void> {
  const clients = Array.from({ length: count }, (_, at) => ({
    id: randomUUID(),
    name: `Client ${at}`,
    plan: at % 10 === 0 ? ('business' as const) : ('free' as const),
    perMinute: null,
    perDay: null,
    createdAt: new Date(Date.UTC(2026, 0, 1) + at * 1_000).toISOString(),
    suspendedAt: null,
  }));
  const { manager } = service.app.get(DataSource);
  for (let at = 0; at < count; at += 1_000) await manager.insert(Client, clients.slice(at, at + 1_000));
}
