import { hostname, userInfo } from 'node:os';
import type { INestApplication } from '@nestjs/common';
import { type Command, InvalidArgumentError, type OptionValues } from 'commander';
import { stringify } from 'lossless-json';
import type { Requester } from '../../auth/clients/audited-changes.js';
import { SystemClock } from '../../core/time/clock.js';
import type { Service } from '../operations/service.js';
import { type Column, type View, listTable } from './list-table.js';
import { secretLine } from './prompt.js';
import { Refusal } from '../../core/refusal.js';
import type { DatabaseUse, Shell } from './shell.js';
import { printable } from './table.js';

/** Where a remote service is: its address, `-` if the key is on standard input, and a file with CA certificates. */
export type Remote = Readonly<Partial<Record<'url' | 'key' | 'ca', string>>>;

/** One invocation of a command: its options, its application, and the person at the terminal. */
export class Call {
  /** The actor of its changes: user@host in the audit trail, who may grant every scope. */
  readonly by: Requester = {
    kind: 'command_line',
    keyId: null,
    from: `${userName()}@${hostname()}`,
    requestId: null,
    scopes: 'all',
  };

  /** As parsed by Commander; the command's DTO validates them. */
  readonly options: OptionValues;

  constructor(
    readonly shell: Shell,
    called: Command,
    readonly remote: Remote,
  ) {
    this.options = called.opts();
  }

  start(use: DatabaseUse = 'read'): Promise<INestApplication> {
    return this.shell.openApp(use);
  }

  /** The service at `--url`, or in this process. Throws InvalidArgumentError, or Refusal if the key is missing. */
  async service(use: DatabaseUse): Promise<Service> {
    const { url, key, ca } = this.remote;
    if (url === undefined) {
      if (key !== undefined || ca !== undefined)
        throw new InvalidArgumentError('--key and --ca: These require --url.');
      return (await import('../operations/local-service.js')).localService(await this.start(use), this.by);
    }
    const { addressOf, remoteService } = await import('../operations/remote-service.js');
    const address = addressOf(url);
    const service = await remoteService(address, await this.credential(key), ca);
    // Modules declare the remedies of their errors; imported here, they are shown as in this process.
    return { ...service, thrown: () => this.shell.loadModules().catch(() => undefined) };
  }

  /** The admin key for `--url`. It is never an argument. */
  private credential(value = ''): Promise<string> {
    const { PETSTORE_KEY: key } = process.env;
    if (value === '' && key !== undefined) return Promise.resolve(key);
    if (value === '' ? !this.shell.prompt : value !== '-')
      throw new InvalidArgumentError(
        '--key: Use - and pass the admin key on standard input, or set PETSTORE_KEY.',
      );
    return this.secret('-', 'Key');
  }

  /**
   * Writes to standard output and waits for completion. Returns false if the reader has closed the pipe, as `head` does. If the write
   * fails, throws Refusal with `hint` appended.
   */
  async write(text: string, hint = ''): Promise<boolean> {
    const writeError = await this.shell.write(text);
    if (writeError && writeError.code !== 'EPIPE')
      throw new Refusal(`The output could not be written: ${writeError.message}.${hint}`);
    return writeError === undefined;
  }

  /** Throws Refusal if there is neither a terminal nor `--yes`. Call it before starting the application, which may migrate a database. */
  requireConsent(): void {
    if (this.options.yes === true || this.shell.prompt) return;
    throw new Refusal(
      'This command asks for confirmation, which needs a terminal. To run it without one, add --yes. Nothing was changed.',
    );
  }

  /**
   * Asks for confirmation of an irreversible change, such as `Delete the client 7f…`, unless `--yes` was given. Throws Refusal unless the
   * answer is yes, and Interrupted on Ctrl-C.
   */
  async confirm(question: string): Promise<void> {
    this.requireConsent();
    if (this.options.yes === true) return;
    const answer = await this.shell.prompt?.(`${printable(question)}? [y/N] `);
    if (!/^\s*y(es)?\s*$/i.test(answer ?? '')) throw new Refusal('Nothing was changed.');
  }

  /** Returns the given value or, for `-`, one line of standard input, so that no secret appears in a process list or in shell history. */
  async secret(value: string, title: string): Promise<string> {
    if (value !== '-') return value;
    const { prompt, readLine } = this.shell;
    if (prompt) return secretLine(await prompt(`${title}: `, 'hidden'), title);
    if (!readLine) throw new Refusal(`${title}: There is no standard input to read.`);
    return readLine(title);
  }

  /** Like show(), for a change that stays in effect even if the result cannot be written. */
  showChange(result: unknown, text: (view: View) => string): Promise<void> {
    return this.show(result, text, true);
  }

  /** Like show(), for a list. An empty list is shown as `none`. */
  showList(rows: readonly object[], columns: readonly Column[], none?: string, total = 0): Promise<void> {
    // Scripts that read lines get no extra line.
    const more = (view: View) =>
      view.screen && total > rows.length ? `\n(${rows.length} of ${total}; --limit shows more)` : '';
    return this.show(
      rows,
      (view) => (rows.length === 0 && none) || listTable(rows, columns, view) + more(view),
    );
  }

  /** Prints the result: as JSON with `--json`, otherwise as text. Prints nothing for undefined. */
  async show(result: unknown, text: (view: View) => string | undefined, isChange = false): Promise<void> {
    const { json = false, wide: isWide = false } = this.options;
    const { screen } = this.shell;
    const view = { isWide, now: new SystemClock().now(), ...(screen ? { screen } : {}) };
    const shown = json ? stringify(result, undefined, 2) : text(view);
    if (shown === undefined) return;
    const stays = isChange ? ' Completed changes remain; `petstore audit list` shows clients and keys.' : '';
    const isRead = await this.write(`${shown}\n`, stays);
    if (!isRead && isChange) this.shell.writeError(`The result was not read.${stays}\n`);
  }
}

/** In a container, the uid may have no user. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
