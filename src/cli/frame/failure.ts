import { readDatabaseUrl } from '../../core/config/database-url.js';
import { SettingsError } from '../../core/config/define-settings.js';
import { loadSettings } from '../../core/config/settings.js';
import { DeclarationError } from '../../core/declaration-errors.js';
import { UnusableDatabase, fileError } from '../../database/sqlite/availability/sqlite-errors.js';
import { ApiError } from '../../core/errors/api-error.js';
import { errorCatalogue } from '../../core/errors/define-errors.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';

/** Whether the value of an option was invalid, including values that the service rejected. */
export function isOfValue(error: unknown): boolean {
  return error instanceof ApiError && error.code === HTTP_ERRORS.validation_failed.code;
}

/** The message for standard error: why the command was refused or failed, and what to do. */
export function reasonOf(error: unknown): string {
  if (error instanceof SettingsError) return `Invalid settings:\n${error.message}`;
  if (error instanceof DeclarationError) return error.message;
  if (error instanceof ApiError) return reasonOfFile(error) ?? messageOf(error);
  return `Failed: ${error instanceof Error ? error.message : String(error)}`;
}

/** The error of the SQLite file, if there is one. Remedies for HTTP clients, such as checking headers, do not help here. */
function reasonOfFile(error: ApiError): string | undefined {
  const address = readDatabaseUrl(loadSettings().databaseUrl);
  const reason = address?.kind === 'sqlite' ? fileError(address.file, error) : error;
  return reason instanceof UnusableDatabase ? reason.message : undefined;
}

/** The message of the HTTP error, with options instead of fields. */
function messageOf({ code, message, body }: ApiError): string {
  if (body.details) return body.details.map((error) => optionOf(error.field) + error.message).join('\n');
  const row = errorCatalogue().find((one) => one.code === code);
  // Remedies for the HTTP protocol do not help someone who has not written the request.
  const remedy = row?.command ?? (code in HTTP_ERRORS ? undefined : row?.remedy);
  return remedy === undefined ? message : `${message}\n${remedy}`;
}

/** The option that sets a field, as a prefix of the message; empty if the error concerns no field. */
function optionOf(field: string): string {
  if (field === '') return '';
  return `--${field.replace(/Id$|\.\d+$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}: `;
}
