import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { verifyApiKey } from '../accounts/api-key.format.js';
import { examples, jsonOption } from './arguments.js';
import { Refusal } from './refusal.js';
import { type Shell, print } from './shell.js';

/** `petstore key verify`: whether a string is a key, told by its shape and checksum alone. */
export function addKeyVerifyCommand(key: Command, shell: Shell): void {
  key
    .command('verify')
    .argument('<string>', 'what may be a key; - reads it from standard input, which no shell history keeps')
    .description(
      'tell by shape and checksum, without any database, whether a string is a key of this service',
    )
    .addOption(jsonOption())
    .addHelpText('after', examples('key verify <string>', 'key verify - < found.txt'))
    .action(async (string: string, { json }: { json: boolean }) => {
      const candidate = string === '-' ? (await text(process.stdin)).trim() : string;
      const verdict = verifyApiKey(candidate);
      if (!verdict.wellFormed) {
        // A script that asks for JSON gets its answer there too; the exit code is the same.
        if (json) shell.write(`${JSON.stringify(verdict, undefined, 2)}\n`);
        throw new Refusal(`This is no key. ${verdict.reason}`);
      }
      const { environment, prefix } = verdict;
      print(
        shell,
        json,
        { wellFormed: true, environment, prefix },
        `This has the shape and the checksum of a ${environment} key, ${prefix}…\n` +
          'Whether it was issued here, and still works, `petstore key show` tells.',
      );
    });
}
