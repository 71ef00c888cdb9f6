import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../clock.js';
import { LARGEST_LIMIT, type Plan, type PlanLimits } from '../throttling/plans.js';
import { Client } from './client.entity.js';
import { RefusedCommand } from './refused-command.js';

/** Makes and changes clients. */
@Injectable()
export class ClientsService {
  constructor(
    @InjectRepository(Client) private readonly clients: Repository<Client>,
    private readonly clock: Clock,
  ) {}

  /** Makes a client. An enterprise client needs its own limits; throws RefusedCommand without them. */
  async create(name: string, plan: Plan, limits: Partial<PlanLimits> = {}): Promise<Client> {
    if (name.trim() === '' || Array.from(name).length > 255) {
      throw new RefusedCommand('A client needs a name of 1 to 255 characters.');
    }
    const client = this.clients.create({
      id: randomUUID(),
      name,
      plan,
      ...columnsOf(plan, limits),
      createdAt: new Date(this.clock.now()).toISOString(),
    });
    await this.clients.insert(client);
    return client;
  }

  /** All clients, oldest first. */
  list(): Promise<Client[]> {
    return this.clients.find({ order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** How many clients there are. */
  count(): Promise<number> {
    return this.clients.count();
  }

  /** The client with this id; throws RefusedCommand when there is none. */
  async get(id: string): Promise<Client> {
    const client = await this.clients.findOneBy({ id });
    if (!client) throw new RefusedCommand(`There is no client ${id}; \`petstore client list\` shows them.`);
    return client;
  }

  /** Moves a client to another plan; what it has used of its windows stays used. */
  async setPlan(id: string, plan: Plan, limits: Partial<PlanLimits> = {}): Promise<Client> {
    const client = await this.get(id);
    const columns = { plan, ...columnsOf(plan, limits) };
    await this.clients.update({ id }, columns);
    return Object.assign(client, columns);
  }
}

function columnsOf(
  plan: Plan,
  limits: Partial<PlanLimits>,
): { perMinute: number | null; perDay: number | null } {
  const { perMinute, perDay } = limits;
  if (plan !== 'enterprise') {
    if (perMinute !== undefined || perDay !== undefined) {
      throw new RefusedCommand(`The plan ${plan} has fixed limits; only enterprise takes its own.`);
    }
    return { perMinute: null, perDay: null };
  }
  if (perMinute === undefined || perDay === undefined) {
    throw new RefusedCommand(
      'The plan enterprise needs its own limits: requests per minute and requests per day.',
    );
  }
  for (const limit of [perMinute, perDay]) {
    if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_LIMIT) {
      throw new RefusedCommand(`A limit is a whole number from 1 to ${LARGEST_LIMIT}.`);
    }
  }
  return { perMinute, perDay };
}
