import { Injectable } from '@nestjs/common';
import { DataSource, type EntityMetadata, type ObjectLiteral } from 'typeorm';
import { ApiKey } from './clients/api-key.entity.js';
import { Client } from './clients/client.entity.js';
import { JsonReader } from '../database/database.js';
import { ApiError } from '../core/errors/api-error.js';
import { HTTP_ERRORS } from '../core/errors/http.errors.js';
import { TransientMap } from '../core/transient-map.js';
import { type FoundKey, KeyCache } from './key-cache.js';

/**
 * Looks up the key of a digest by one prepared statement on the connection for reads, which waits neither for writers nor
 * for other requests. Concurrent requests with the same digest share one look-up.
 */
@Injectable()
export class KeyLookUp {
  private readonly underWay = new TransientMap<
    string,
    { readonly version: number; readonly found: Promise<FoundKey> }
  >();
  private sql: string | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: JsonReader,
    private readonly cache: KeyCache,
  ) {}

  /** The key with this digest, read from the database. Throws service_unavailable when that does not answer. */
  async find(digest: string): Promise<FoundKey> {
    const version = this.cache.version();
    if (version === undefined) return this.read(digest, version);
    const shared = this.underWay.get(digest);
    // The data version is unchanged, so the shared look-up sees every commit that this request must see.
    if (shared?.version === version) return shared.found;
    const found = this.read(digest, version);
    const own = { version, found };
    this.underWay.set(digest, own);
    try {
      return await found;
    } finally {
      if (this.underWay.get(digest) === own) this.underWay.delete(digest);
    }
  }

  private async read(digest: string, version: number | undefined): Promise<FoundKey> {
    const row = await this.reader.first(this.statement(), [digest]).catch((cause: unknown) => {
      throw cause instanceof ApiError ? cause : unavailable(cause);
    });
    const key = row && this.hydrated(row);
    this.cache.set(digest, key, version);
    return { key };
  }

  private statement(): string {
    const [keys, clients] = [this.dataSource.getMetadata(ApiKey), this.dataSource.getMetadata(Client)];
    this.sql ??=
      `SELECT ${[...selectionOf(keys), ...selectionOf(clients)].join(', ')} FROM ${keys.tableName} ` +
      `JOIN ${clients.tableName} ON ${clients.tableName}.id = ${keys.tableName}.client_id ` +
      `WHERE ${keys.tableName}.digest = ?1`;
    return this.sql;
  }

  private hydrated(row: Readonly<Record<string, unknown>>): ApiKey {
    const key = this.entityOf(this.dataSource.getMetadata(ApiKey), row) as ApiKey;
    key.client = this.entityOf(this.dataSource.getMetadata(Client), row) as Client;
    return key;
  }

  private entityOf(metadata: EntityMetadata, row: Readonly<Record<string, unknown>>): ObjectLiteral {
    const entity = metadata.create();
    for (const column of metadata.columns) {
      const stored = row[nameOf(metadata, column.propertyName)];
      column.setEntityValue(entity, this.dataSource.driver.prepareHydratedValue(stored, column));
    }
    return entity;
  }
}

function selectionOf(metadata: EntityMetadata): string[] {
  return metadata.columns.map(
    ({ databaseName, propertyName }) =>
      `${metadata.tableName}.${databaseName} AS "${nameOf(metadata, propertyName)}"`,
  );
}

function nameOf({ tableName }: EntityMetadata, property: string): string {
  return `${tableName}.${property}`;
}

function unavailable(cause: unknown): ApiError {
  return new ApiError(HTTP_ERRORS.service_unavailable, {
    params: { reason: 'the database does not answer' },
    headers: { 'Retry-After': '1' },
    cause,
  });
}
