import type { ApiKeyDto } from '../admin/dto/api-key.dto.js';
import { tableOf } from './table.js';

/** A key, for people. */
export function keyText(key: ApiKeyDto, bannedUntil: string | null = null): string {
  return tableOf([
    ['id', key.id],
    ['client', key.clientId],
    ['key', `${key.prefix}…`],
    ['label', key.label ?? '-'],
    ['scopes', key.scopes.join(', ')],
    ['created', key.createdAt],
    ['expires', key.expiresAt ?? 'never'],
    ['last used', key.lastUsedAt ?? 'never'],
    ...(key.replacedBy === null ? [] : [['rotated to', key.replacedBy]]),
    ...(key.revokedAt === null ? [] : [['revoked', key.revokedAt]]),
    ...(bannedUntil === null ? [] : [['banned until', bannedUntil]]),
  ]);
}

/** Keys, for people. */
export function keyListText(keys: readonly ApiKeyDto[]): string {
  if (keys.length === 0) return 'There are no keys yet; make one with `petstore key issue`.';
  return tableOf([
    ['ID', 'CLIENT', 'KEY', 'LABEL', 'SCOPES', 'EXPIRES', 'REVOKED', 'LAST USED', 'ROTATED TO'],
    ...keys.map((key) => [
      key.id,
      key.clientId,
      `${key.prefix}…`,
      key.label ?? '-',
      key.scopes.join(','),
      key.expiresAt ?? 'never',
      key.revokedAt ?? '-',
      key.lastUsedAt ?? 'never',
      key.replacedBy ?? '-',
    ]),
  ]);
}
