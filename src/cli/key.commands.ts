import type { INestApplication } from '@nestjs/common';
import type { Command } from 'commander';
import type { IssuedKey } from '../accounts/api-key.entity.js';
import { isWellFormedApiKey, verifyApiKey } from '../accounts/api-key.format.js';
import { ApiKeysService } from '../accounts/api-keys.service.js';
import { UsageService } from '../accounts/usage.service.js';
import { toApiKeyDto, toApiKeyStateDto, toIssuedKeyDto } from '../admin/dto/api-key.dto.js';
import { KeyChangesDto, KeyRotationDto, NewKeyDto } from '../admin/dto/key.input.js';
import { duration, durationOrZero, examples, forceOption, jsonOption, names } from './arguments.js';
import { everyPage } from './every-page.js';
import { inputOf } from './input.js';
import { addKeyVerifyCommand } from './key-verify.command.js';
import { keyListText, keyText } from './key.text.js';
import { commandLineOperator } from './operator.js';
import { Refusal } from './refusal.js';
import { type Shell, print } from './shell.js';

interface Json {
  readonly json: boolean;
}
interface Forcible extends Json {
  readonly force: boolean;
}
interface IssueOptions extends Json {
  readonly client: string;
  readonly scopes?: string[];
  readonly label?: string;
  readonly expires?: string;
}

const ID = 'id of the key, or the key itself';

/** `petstore key …`: the keys of clients. */
export function addKeyCommands(program: Command, shell: Shell): void {
  const key = program.command('key').description('API keys of clients');

  key
    .command('issue')
    .description('make a key; it is shown this once')
    .requiredOption('--client <id>', 'client that the key belongs to')
    .option('--scopes <a,b>', 'scopes, separated by commas; default: all but the administrative ones', names)
    .option('--label <label>', 'what people call it, 1 to 255 characters')
    .option('--expires <duration>', 'lifetime such as 90d, 12h or 30m; default: no end', duration)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        `key issue --client <id> --label 'Web shop' --expires 90d`,
        'key issue --client <id> --scopes admin,pets:read,pets:write',
      ),
    )
    .action(async ({ client: clientId, json, ...options }: IssueOptions) => {
      const input = await inputOf(NewKeyDto, { clientId, ...options });
      const issued = await shell.withApp((app) =>
        app.get(ApiKeysService).issue(input, commandLineOperator()),
      );
      showIssued(
        shell,
        json,
        issued,
        `Issued the key ${issued.apiKey.id} with ${issued.apiKey.scopes.join(', ')}.`,
      );
    });

  key
    .command('list')
    .description('show keys, oldest first, never their secrets')
    .option('--client <id>', 'only those of this client')
    .addOption(jsonOption())
    .addHelpText('after', examples('key list', 'key list --client <id> --json'))
    .action(async ({ client, json }: Json & { client?: string }) => {
      const filter = client === undefined ? {} : { clientId: client };
      const keys = await shell.withApp((app) =>
        everyPage((page) => app.get(ApiKeysService).list(page, filter)),
      );
      print(shell, json, keys.map(toApiKeyDto), keyListText(keys.map(toApiKeyDto)));
    });

  key
    .command('show')
    .argument('<id>', ID)
    .description('show a key, never its secret, and whether it is banned')
    .addOption(jsonOption())
    .addHelpText('after', examples('key show <id>'))
    .action(async (id: string, { json }: Json) => {
      const shown = await shell.withApp(async (app) => {
        const found = await app.get(ApiKeysService).get(await idOf(app, id));
        return toApiKeyStateDto(found, await app.get(UsageService).bannedUntil(found));
      });
      print(shell, json, shown, keyText(shown, shown.bannedUntil));
    });

  key
    .command('update')
    .argument('<id>', ID)
    .description('label a key, or bring its end forward')
    .option('--label <label>', 'what people call it, 1 to 255 characters')
    .option('--no-label', 'take the label away')
    .option('--expires <duration>', 'how long it still lives, such as 7d; never longer than before', duration)
    .addOption(forceOption())
    .addOption(jsonOption())
    .addHelpText('after', examples(`key update <id> --label 'Old web shop' --expires 7d`))
    .action(async (id: string, options: Forcible & { label?: string | boolean; expires?: string }) => {
      const { label, expires } = options;
      // Commander hands `--no-label` over as false, and its absence as true.
      const changes = await inputOf(KeyChangesDto, {
        label: typeof label === 'boolean' ? (label ? undefined : null) : label,
        expires,
      });
      const updated = await shell.withApp(async (app) =>
        app.get(ApiKeysService).update(await idOf(app, id), changes, options, commandLineOperator()),
      );
      print(shell, options.json, toApiKeyDto(updated), `Changed the key.\n${keyText(toApiKeyDto(updated))}`);
    });

  key
    .command('rotate')
    .argument('<id>', ID)
    .description('make a key with a new secret for the same client; the old one goes on for the grace')
    .option(
      '--grace <duration>',
      'how long the old key still lives, never longer than its own end; 0 ends it at once',
      durationOrZero,
      '24h',
    )
    .option(
      '--expires <duration>',
      'lifetime of the new key; default: as long as the old one was made for',
      duration,
    )
    .addOption(jsonOption())
    .addOption(forceOption())
    .addHelpText('after', examples('key rotate <id>', 'key rotate <id> --grace 0'))
    .action(
      async (id: string, { json, force, ...options }: Forcible & { grace: string; expires?: string }) => {
        const rotation = await inputOf(KeyRotationDto, options);
        const { issued, old } = await shell.withApp(async (app) => {
          const keys = app.get(ApiKeysService);
          const oldId = await idOf(app, id);
          const successor = await keys.rotate(oldId, rotation, commandLineOperator(), { force });
          return { issued: successor, old: await keys.get(oldId) };
        });
        showIssued(
          shell,
          json,
          issued,
          `The key ${issued.apiKey.id} follows ${old.id}, which ends at ${old.expiresAt ?? '-'}.`,
        );
      },
    );

  key
    .command('unban')
    .argument('<id>', ID)
    .description('lift the ban of a key and forget its strikes')
    .addOption(jsonOption())
    .addHelpText('after', examples('key unban <id>'))
    .action(async (id: string, { json }: Json) => {
      const unbanned = await shell.withApp(async (app) =>
        app.get(ApiKeysService).unban(await idOf(app, id), commandLineOperator()),
      );
      print(shell, json, toApiKeyDto(unbanned), `Lifted the ban of the key ${unbanned.id}.`);
    });

  key
    .command('revoke')
    .argument('<id>', ID)
    .description('end a key at once and for good')
    .addOption(forceOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('key revoke <id>'))
    .action(async (id: string, options: Forcible) => {
      const revoked = await shell.withApp(async (app) =>
        app.get(ApiKeysService).revoke(await idOf(app, id), options, commandLineOperator()),
      );
      print(
        shell,
        options.json,
        toApiKeyDto(revoked),
        `Revoked the key ${revoked.id}; servers that run know within 5 s.`,
      );
    });

  addKeyVerifyCommand(key, shell);
}

/** A key that leaked is often all that one has of it. */
async function idOf(app: INestApplication, idOrKey: string): Promise<string> {
  if (isWellFormedApiKey(idOrKey)) return (await app.get(ApiKeysService).identify(idOrKey)).id;
  const verdict = verifyApiKey(idOrKey);
  // Most of a key may stand in it: it is not repeated.
  if (idOrKey.startsWith('pst_') && !verdict.wellFormed)
    throw new Refusal(`This is no key. ${verdict.reason}`);
  return idOrKey;
}

function showIssued(shell: Shell, json: boolean, issued: IssuedKey, done: string): void {
  print(shell, json, toIssuedKeyDto(issued), `${done} It is shown this once:\n\n${issued.secret}`);
}
