import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../clock.js';
import { Settings } from '../config/settings.js';
import { clientSubjectId } from '../throttling/quota-subject.js';
import { QuotaService } from '../throttling/quota.service.js';
import { ApiKey } from './api-key.entity.js';
import { digestOf, displayablePrefixOf, generateApiKey } from './api-key.format.js';
import { ClientsService } from './clients.service.js';
import { RefusedCommand } from './refused-command.js';
import { declaredScopes } from './scopes.js';

/** A key just made, with the secret that is never shown again. */
export interface IssuedKey {
  readonly apiKey: ApiKey;
  readonly secret: string;
}

/** Issues and revokes API keys. */
@Injectable()
export class ApiKeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly clients: ClientsService,
    private readonly quota: QuotaService,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes a key for a client. Without scopes it gets those granted by default; `lifetimeMs` counts from now.
   * Throws RefusedCommand for an unknown client or scope.
   */
  async issue(
    clientId: string,
    options: { scopes?: string[]; lifetimeMs?: number } = {},
  ): Promise<IssuedKey> {
    const client = await this.clients.get(clientId);
    const scopes = scopesToGrant(options.scopes);
    const now = this.clock.now();
    const secret = generateApiKey(this.settings.nodeEnv === 'production' ? 'live' : 'test');
    const apiKey = this.keys.create({
      id: randomUUID(),
      clientId: client.id,
      digest: digestOf(secret),
      prefix: displayablePrefixOf(secret),
      scopes,
      createdAt: new Date(now).toISOString(),
      expiresAt: options.lifetimeMs === undefined ? null : new Date(now + options.lifetimeMs).toISOString(),
      revokedAt: null,
    });
    await this.keys.insert(apiKey);
    return { apiKey, secret };
  }

  /** Keys of one client, or of all, oldest first. Throws RefusedCommand for an unknown client. */
  async list(clientId?: string): Promise<ApiKey[]> {
    if (clientId !== undefined) await this.clients.get(clientId);
    return this.keys.find({
      where: clientId === undefined ? {} : { clientId },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  /** Lifts the ban of a key and forgets its strikes; throws RefusedCommand when there is no such key. */
  async unban(id: string): Promise<ApiKey> {
    const key = await this.get(id);
    await this.quota.unban(id, clientSubjectId(key.clientId));
    return key;
  }

  /** Ends a key at once; throws RefusedCommand when there is none or it is revoked already. */
  async revoke(id: string): Promise<ApiKey> {
    const key = await this.get(id);
    if (key.revokedAt !== null) throw new RefusedCommand(`The key ${id} was revoked at ${key.revokedAt}.`);
    key.revokedAt = new Date(this.clock.now()).toISOString();
    await this.keys.update({ id }, { revokedAt: key.revokedAt });
    return key;
  }

  private async get(id: string): Promise<ApiKey> {
    const key = await this.keys.findOneBy({ id });
    if (!key) throw new RefusedCommand(`There is no key ${id}; \`petstore key list\` shows them.`);
    return key;
  }
}

function scopesToGrant(wanted: string[] | undefined): string[] {
  const declared = declaredScopes();
  if (wanted === undefined) return declared.filter((scope) => scope.grantedByDefault).map(({ name }) => name);
  const known = declared.map(({ name }) => name);
  for (const scope of wanted) {
    if (!known.includes(scope)) {
      throw new RefusedCommand(`There is no scope "${scope}"; there are ${known.join(', ')}.`);
    }
  }
  if (wanted.length === 0) throw new RefusedCommand('A key needs at least one scope.');
  return [...new Set(wanted)].toSorted();
}
