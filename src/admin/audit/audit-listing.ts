import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { AuditEntry } from '../../auth/audit/audit-entry.entity.js';
import { DeletedKey } from '../../auth/audit/deleted-key.entity.js';
import { ApiKey } from '../../auth/clients/api-key.entity.js';
import { Client } from '../../auth/clients/client.entity.js';
import {
  BY_INT64_ID,
  type Page,
  type PageRequest,
  type Position,
  keysetPage,
} from '../../database/keyset-page.js';
import type { Condition } from '../../database/selection.js';
import { WebhookEndpoint } from '../../webhooks/webhook-endpoint.entity.js';
import { type AuditEntryDto, type AuditNames, endpointOf, toAuditEntryDto } from '../dto/audit-entry.dto.js';
import type { AuditFilters } from '../dto/inputs.js';

/** The property of an entry that each filter compares, and how. */
const COMPARED: Readonly<Record<keyof AuditFilters, Pick<Condition, 'property' | 'comparison'>>> = {
  client: { property: 'clientId', comparison: '=' },
  key: { property: 'keyId', comparison: '=' },
  action: { property: 'action', comparison: '=' },
  actor: { property: 'actor', comparison: '=' },
  actorKey: { property: 'actorKeyId', comparison: '=' },
  from: { property: 'from', comparison: '=' },
  since: { property: 'at', comparison: '>=' },
  until: { property: 'at', comparison: '<' },
};

const COLUMNS = [
  'id',
  'at',
  'action',
  'actor',
  'actorName',
  'actorKeyId',
  'from',
  'requestId',
  'clientName',
  'clientId',
  'keyId',
  'details',
  'keyPrefix',
  'endpointName',
] as const;
/** Number of entries that an export reads at a time. */
const EXPORTED = 500;

/** The audit trail for operators, filtered, with the current names of clients, keys and endpoints, and the last names of deleted keys. */
@Injectable()
export class AuditListing {
  constructor(private readonly dataSource: DataSource) {}

  /** A page of the matching entries, latest first. */
  async page(page: PageRequest, filters: AuditFilters): Promise<Page<AuditEntryDto>> {
    const where = Object.entries(COMPARED).flatMap(([name, compared]): Condition[] => {
      const value = filters[name as keyof AuditFilters];
      return value === undefined ? [] : [{ ...compared, value }];
    });
    const query = this.dataSource.manager.createQueryBuilder(AuditEntry, 'entry');
    const { items, ...rest } = await keysetPage(query, { ...page, where }, BY_INT64_ID, 'DESC');
    const names = await this.namesOf(items);
    return { ...rest, items: items.map((entry) => toAuditEntryDto(entry, names)) };
  }

  /** All matching entries as CSV (RFC 4180), latest first, read as fast as the client receives them. */
  async *csv(filters: AuditFilters): AsyncGenerator<string> {
    yield `${COLUMNS.join(',')}\r\n`;
    let after: Position | undefined;
    do {
      const { items, next } = await this.page({ limit: EXPORTED, ...(after ? { after } : {}) }, filters);
      yield items.map((entry) => `${COLUMNS.map((name) => cellOf(entry[name])).join(',')}\r\n`).join('');
      after = next;
    } while (after);
  }

  /** The names of the clients, keys and endpoints of entries, and of the keys that made the changes, unless they were erased. */
  private async namesOf(entries: readonly AuditEntry[]): Promise<AuditNames> {
    const { manager } = this.dataSource;
    const ofKeys = { id: idsIn(entries, ({ actorKeyId, keyId }) => [actorKeyId, keyId]) };
    const existing = await manager.find(ApiKey, { where: ofKeys, relations: { client: true } });
    const keys = [
      ...existing.map(({ id, label, prefix, client }) => ({ id, label, prefix, clientName: client.name })),
      ...(await manager.findBy(DeletedKey, ofKeys)),
    ];
    const clients = await manager.findBy(Client, { id: idsIn(entries, ({ clientId }) => [clientId]) });
    const endpoints = await manager.find(WebhookEndpoint, {
      where: { id: idsIn(entries, (entry) => [endpointOf(entry)]) },
      select: { id: true, label: true, url: true },
    });
    return {
      prefixes: new Map(keys.map(({ id, prefix }) => [id, prefix])),
      names: new Map([
        ...clients.map(({ id, name }) => [id, name] as const),
        ...endpoints.map(({ id, label, url }) => [id, label ?? new URL(url).origin] as const),
        ...keys.map(
          ({ id, label, prefix, clientName }) => [id, `${label ?? `${prefix}…`} (${clientName})`] as const,
        ),
      ]),
    };
  }
}

function idsIn(
  entries: readonly AuditEntry[],
  idsOf: (entry: AuditEntry) => readonly (string | null | undefined)[],
) {
  return In([...new Set(entries.flatMap(idsOf).filter((id) => typeof id === 'string'))]);
}

/** Characters that start a formula, after those that spreadsheets skip; one of them is the minus sign U+2212. */
const FORMULA = /^[\s\p{Cc}\p{Cf}"']*[=+\-@\u2212]/u;
/**
 * Positions at which a spreadsheet in a locale that separates cells with semicolons or tabs starts another cell or row, even inside quotes.
 */
const BEGINNINGS = /(?<=[;\t\r\n])/;

/**
 * A CSV cell. Because clients choose names, text that a spreadsheet would run as a formula is quoted. East Asian locales also accept
 * full-width characters, which the compatibility form replaces.
 */
function cellOf(value: string | bigint | object | null): string {
  if (value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = text
    .split(BEGINNINGS)
    .map((part) => (FORMULA.test(part.normalize('NFKC')) ? `'${part}` : part));
  const cell = safe.join('');
  return /[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
