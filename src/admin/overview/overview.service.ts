import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKeysService } from '../../auth/clients/api-keys.service.js';
import { CLIENT_STATES, countClients, refusedMost } from '../../auth/clients/client-list.js';
import { ClientsService } from '../../auth/clients/clients.service.js';
import { RequestHistory } from '../../auth/usage/request-history.js';
import { Clock } from '../../core/time/clock.js';
import type { FoundDto, OverviewDto } from './overview.dto.js';

/** Maximum numbers of clients with refused requests in an overview, and of search results of each kind. */
const [MAX_REFUSED, MAX_FOUND] = [5, 10];

/** Reads the overview for operators, and finds clients, keys and requests. */
@Injectable()
export class OverviewService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clients: ClientsService,
    private readonly keys: ApiKeysService,
    private readonly history: RequestHistory,
    private readonly clock: Clock,
  ) {}

  async get(): Promise<OverviewDto> {
    const now = this.clock.now();
    const { manager } = this.dataSource;
    const states = [];
    for (const state of CLIENT_STATES)
      states.push({ state, clients: await countClients(manager, state, now) });
    return {
      ...(await this.history.together()),
      clients: await this.clients.count(),
      states,
      refusedMost: await refusedMost(manager, MAX_REFUSED, now),
    };
  }

  /**
   * Clients whose name contains the text, keys that begin with it or whose label contains it, objects with it as their id, and the last
   * error with it.
   */
  async search(text: string): Promise<FoundDto[]> {
    const page = { limit: MAX_FOUND };
    const { items: named } = await this.clients.list(page, { name: text });
    const keys = await this.keys.find(text, MAX_FOUND);
    const { items: errors } = await this.history.errors({ limit: 1 }, { requestId: text });
    const owners = await this.clients.withIds([text, ...keys.map(({ clientId }) => clientId)]);
    const clients = [...owners.filter(({ id }) => id === text), ...named];
    return [
      ...clients.map(({ id, name }) => found('client', { id, title: name, clientId: id, clientName: name })),
      ...keys.map(({ id, prefix, label, clientId }) => {
        const clientName = owners.find((client) => client.id === clientId)?.name ?? null;
        return found('key', {
          id,
          title: label === null ? prefix : `${prefix} ${label}`,
          clientId,
          clientName,
        });
      }),
      ...errors.map(({ requestId: id, status, code, operation, clientId, clientName }) =>
        found('request', { id, title: `${status} ${code ?? ''} ${operation}`, clientId, clientName }),
      ),
    ];
  }
}

function found(kind: FoundDto['kind'], rest: Omit<FoundDto, 'kind'>): FoundDto {
  return { kind, ...rest };
}
