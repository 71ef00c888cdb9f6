import { readDatabaseUrl } from '../../core/config/database-url.js';
import { SettingsError } from '../../core/config/define-settings.js';
import { loadSettings } from '../../core/config/settings.js';
import { DeclarationError } from '../../core/declaration-faults.js';
import { UnusableDatabase, fileError } from '../../database/sqlite/troubles/sqlite-errors.js';
import { ApiError } from '../../core/errors/api-error.js';
import { errorCatalogue } from '../../core/errors/define-errors.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';

/** Whether an option's value was invalid, also when a service found that out. */
export function isOfValue(error: unknown): boolean {
  return error instanceof ApiError && error.code === HTTP_ERRORS.validation_failed.code;
}

/** The message for standard error when the service refused a command, or when one failed: why, and what to do. */
export function reasonOf(error: unknown): string {
  if (error instanceof SettingsError) return `Invalid settings:\n${error.message}`;
  if (error instanceof DeclarationError) return error.message;
  if (error instanceof ApiError) return reasonOfFile(error) ?? messageOf(error);
  return `Failed: ${error instanceof Error ? error.message : String(error)}`;
}

/** The fault of the SQLite file, if it has one: remedies for HTTP clients, such as headers to check, do not help here. */
function reasonOfFile(error: ApiError): string | undefined {
  const address = readDatabaseUrl(loadSettings().databaseUrl);
  const reason = address?.kind === 'sqlite' ? fileError(address.file, error) : error;
  return reason instanceof UnusableDatabase ? reason.message : undefined;
}

/** The same message as over HTTP, with options instead of fields. */
function messageOf({ code, message, body }: ApiError): string {
  if (body.details) return body.details.map((fault) => optionOf(fault.field) + fault.message).join('\n');
  const row = errorCatalogue().find((one) => one.code === code);
  // What HTTP itself requires of requests helps nobody who has not written one.
  const remedy = row?.command ?? (code in HTTP_ERRORS ? undefined : row?.remedy);
  return remedy === undefined ? message : `${message}\n${remedy}`;
}

/** The option that a field is given by, before the fault; empty for a fault of no field. */
function optionOf(field: string): string {
  if (field === '') return '';
  return `--${field.replace(/Id$|\.\d+$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}: `;
}
