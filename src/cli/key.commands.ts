import type { Command } from 'commander';
import type { ApiKey } from '../auth/api-key.entity.js';
import { ApiKeysService } from '../auth/api-keys.service.js';
import { duration, names } from './arguments.js';
import { outputOf, tableOf } from './output.js';
import { withApp } from './with-app.js';

/** `petstore key …`: the keys of clients. */
export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys of clients');

  key
    .command('issue')
    .description('make a key; it is shown this once')
    .requiredOption('--client <id>', 'client that the key belongs to')
    .option('--scopes <a,b>', 'scopes, separated by commas; default: all but the administrative ones', names)
    .option('--expires <duration>', 'lifetime such as 90d, 12h or 30m; default: none', duration)
    .option('--json', 'print one JSON document')
    .action(async (options: { client: string; scopes?: string[]; expires?: number; json?: boolean }) => {
      const { apiKey, secret } = await withApp((app) =>
        app.get(ApiKeysService).issue(options.client, {
          ...(options.scopes === undefined ? {} : { scopes: options.scopes }),
          ...(options.expires === undefined ? {} : { lifetimeMs: options.expires }),
        }),
      );
      const { id, ...rest } = documentOf(apiKey);
      outputOf(options.json ?? false).print(
        { id, key: secret, ...rest },
        `Issued the key ${id} with ${apiKey.scopes.join(', ')}. It is shown this once:\n\n${secret}`,
      );
    });

  key
    .command('list')
    .description('show keys, never their secrets')
    .option('--client <id>', 'only those of this client')
    .option('--json', 'print one JSON document')
    .action(async (options: { client?: string; json?: boolean }) => {
      const keys = await withApp((app) => app.get(ApiKeysService).list(options.client));
      const rows = keys.map((one) => [
        one.id,
        one.clientId,
        `${one.prefix}…`,
        one.scopes.join(','),
        one.expiresAt ?? 'never',
        one.revokedAt ?? '-',
      ]);
      outputOf(options.json ?? false).print(
        keys.map(documentOf),
        rows.length === 0
          ? 'There are no keys yet; make one with `petstore key issue`.'
          : tableOf([['ID', 'CLIENT', 'KEY', 'SCOPES', 'EXPIRES', 'REVOKED'], ...rows]),
      );
    });

  key
    .command('unban <id>')
    .description('lift the ban of a key and forget its strikes')
    .option('--json', 'print one JSON document')
    .action(async (id: string, options: { json?: boolean }) => {
      const unbanned = await withApp((app) => app.get(ApiKeysService).unban(id));
      outputOf(options.json ?? false).print(documentOf(unbanned), `Lifted the ban of the key ${id}.`);
    });

  key
    .command('revoke <id>')
    .description('end a key at once')
    .option('--json', 'print one JSON document')
    .action(async (id: string, options: { json?: boolean }) => {
      const revoked = await withApp((app) => app.get(ApiKeysService).revoke(id));
      outputOf(options.json ?? false).print(documentOf(revoked), `Revoked the key ${id}.`);
    });
}

function documentOf({ id, clientId, prefix, scopes, createdAt, expiresAt, revokedAt }: ApiKey) {
  return { id, clientId, prefix, scopes, createdAt, expiresAt, revokedAt };
}
