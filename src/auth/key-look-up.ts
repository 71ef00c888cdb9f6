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
  /** The look-ups that are running, by data version and digest. */
  private readonly running = new TransientMap<string, Promise<FoundKey>>();
  private sql: string | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: JsonReader,
    private readonly cache: KeyCache,
  ) {}

  /** The key with this digest, read from the database. Throws service_unavailable when that does not answer. */
  find(digest: string): Promise<FoundKey> {
    const version = this.cache.versions().keys;
    if (version === undefined) return this.read(digest, version);
    // While the data version is unchanged, a look-up that is running sees every commit that this one must see.
    const name = `${version} ${digest}`;
    const running = this.running.get(name);
    if (running) return running;
    const found = this.read(digest, version).finally(() => this.running.delete(name));
    this.running.set(name, found);
    return found;
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
