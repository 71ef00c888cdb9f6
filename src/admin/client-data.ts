import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, type EntityTarget, type ObjectLiteral } from 'typeorm';
import { AuditErasure } from '../auth/audit/audit-erasure.js';
import { AuditedChanges, type RecordChange, type Requester } from '../auth/clients/audited-changes.js';
import { Client } from '../auth/clients/client.entity.js';
import { CLIENTS_ERRORS } from '../auth/clients/clients.errors.js';
import { ClientsService } from '../auth/clients/clients.service.js';
import type { Forcible } from '../auth/clients/key-rules.js';
import { ApiKeysService } from '../auth/clients/api-keys.service.js';
import { RefusedRequest, RequestCount } from '../auth/usage/client-requests.entity.js';
import { ApiError } from '../core/errors/api-error.js';
import { isoOf } from '../core/time/clock.js';
import { writeExactJson } from '../core/exact-json.js';
import {
  BY_INT64_ID,
  type Page,
  type PageRequest,
  type Position,
  keysetPage,
} from '../database/keyset-page.js';
import { IdempotencyEntry } from '../http/idempotency/idempotency-entry.entity.js';
import { WebhookEndpointsService } from '../webhooks/endpoints/webhook-endpoints.service.js';
import { WebhookDelivery } from '../webhooks/webhook-delivery.entity.js';
import { AuditListing } from './audit/audit-listing.js';
import { toApiKeyDto } from './dto/api-key.dto.js';
import { toRefusedRequestDto } from './dto/refused-request.dto.js';

/** Number of rows read at a time. */
const AT_ONCE = 500;

type Read = (page: PageRequest) => Promise<Page<object>>;

/** The stored data about a client: its export as JSON (GDPR article 15), and its erasure from the audit trail (article 17). */
@Injectable()
export class ClientData {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clients: ClientsService,
    private readonly keys: ApiKeysService,
    private readonly endpoints: WebhookEndpointsService,
    private readonly audit: AuditListing,
    private readonly changes: AuditedChanges,
    private readonly erasure: AuditErasure,
  ) {}

  /**
   * The rows of a client in `tables`, without secrets, as one JSON object, read as fast as it is sent. docs/operations/personal-data.md
   * lists what is omitted. Throws client_not_found.
   */
  async export(clientId: string): Promise<AsyncGenerator<string>> {
    const client = await this.clients.get(clientId);
    const { manager } = this.dataSource;
    const tables: Readonly<Record<string, Read>> = {
      keys: async (page) => mapped(await this.keys.list(page, { clientId }), toApiKeyDto),
      requests: async (page) =>
        mapped(await allOf(manager, RequestCount, clientId)(page), ({ start, ...counted }) => ({
          ...counted,
          start: isoOf(start),
        })),
      errors: async (page) =>
        mapped(await this.errors(page, clientId), (error) =>
          toRefusedRequestDto(Object.assign(error, { clientName: client.name, keyPrefix: null })),
        ),
      webhooks: (page) => this.endpoints.list(page, { client: clientId }),
      deliveries: (page) => this.deliveries(page, clientId),
      idempotencyKeys: allOf(manager, IdempotencyEntry, clientId),
      audit: (page) => this.audit.page(page, { client: clientId }),
    };
    return written(client, tables);
  }

  /**
   * Deletes a client and, on request, erases its names from the audit trail in the same transaction. Throws the errors of
   * ClientsService.delete().
   */
  delete(
    clientId: string,
    { erase, force }: Forcible & { readonly erase: boolean },
    by: Requester,
  ): Promise<Client> {
    return this.clients.delete(clientId, { force }, by, async (manager, record) => {
      if (erase) await this.eraseIn(manager, record, clientId);
    });
  }

  /**
   * Erases the names of a deleted client and the addresses of its keys from the audit trail; returns the number of its entries, 0 if it was
   * erased before. Throws client_not_deleted.
   */
  erase(clientId: string, by: Requester): Promise<number> {
    return this.changes.run(by, async (manager, record) => {
      if (await manager.existsBy(Client, { id: clientId }))
        throw new ApiError(CLIENTS_ERRORS.client_not_deleted, { params: { id: clientId } });
      return this.eraseIn(manager, record, clientId);
    });
  }

  private async eraseIn(manager: EntityManager, record: RecordChange, clientId: string): Promise<number> {
    const entries = await this.erasure.run(manager, clientId);
    if (entries > 0) await record({ action: 'client.erased', clientId });
    return entries;
  }

  private errors(page: PageRequest, clientId: string): Promise<Page<RefusedRequest>> {
    const query = this.dataSource.manager.createQueryBuilder(RefusedRequest, 'row');
    return keysetPage(query.where('row.clientId = :clientId', { clientId }), page, BY_INT64_ID);
  }

  private deliveries(page: PageRequest, clientId: string): Promise<Page<WebhookDelivery>> {
    const query = this.dataSource.manager
      .createQueryBuilder(WebhookDelivery, 'delivery')
      .innerJoinAndSelect('delivery.message', 'message')
      .innerJoin('delivery.endpoint', 'endpoint')
      .where('endpoint.clientId = :clientId', { clientId });
    return keysetPage(query, page, BY_INT64_ID);
  }
}

async function* written(client: Client, tables: Readonly<Record<string, Read>>): AsyncGenerator<string> {
  yield `{"client":${writeExactJson(client)}`;
  for (const [name, read] of Object.entries(tables)) {
    yield `,${JSON.stringify(name)}:[`;
    let [after, separator]: [Position | undefined, string] = [undefined, ''];
    do {
      const { items, next }: Page<object> = await read({ limit: AT_ONCE, ...(after ? { after } : {}) });
      if (items.length > 0) yield separator + items.map((item) => writeExactJson(item)).join(',');
      [after, separator] = [next, items.length > 0 ? ',' : separator];
    } while (after);
    yield ']';
  }
  yield '}';
}

/** Reads a table without an id in one query; its number of rows per client is limited. */
function allOf<Row extends ObjectLiteral & { clientId: string }>(
  manager: EntityManager,
  entity: EntityTarget<Row>,
  clientId: string,
): (page: PageRequest) => Promise<Page<Row>> {
  const query = manager.createQueryBuilder(entity, 'row').where('row.clientId = :clientId', { clientId });
  return async () => ({ items: await query.getMany() });
}

function mapped<From, To extends object>({ items, ...rest }: Page<From>, map: (item: From) => To): Page<To> {
  return { ...rest, items: items.map(map) };
}
