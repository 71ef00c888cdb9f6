import { SettingsError } from '../core/config/define-settings.js';
import { DeclarationError } from '../core/declaration-faults.js';
import { DatabaseRefusal } from '../database/commands/refusal.js';
import { ApiError } from '../core/errors/api-error.js';
import { errorCatalogue } from '../core/errors/define-errors.js';
import { HTTP_ERRORS } from '../core/errors/http.errors.js';

/** Whether an option's value was invalid, also when a service found that out. */
export function isOfValue(error: unknown): boolean {
  return error instanceof ApiError && error.code === HTTP_ERRORS.validation_failed.code;
}

/** The message for standard error when the service refused a command, or when one failed: why, and what to do. */
export function reasonOf(error: unknown): string {
  if (error instanceof SettingsError) return `The settings are wrong:\n${error.message}`;
  if ([DeclarationError, DatabaseRefusal].some((kind) => error instanceof kind))
    return (error as Error).message;
  if (error instanceof ApiError) return messageOf(error);
  return `Failed: ${error instanceof Error ? error.message : String(error)}`;
}

/** The same message as over HTTP, with options in place of fields. */
function messageOf(error: ApiError): string {
  const { code, message } = error;
  const ofValues = valueFaults(error);
  if (ofValues.length > 0) return ofValues.map(({ text }) => text).join('\n');
  const remedy = errorCatalogue().find((row) => row.code === code)?.remedy;
  return remedy === undefined ? message : `${message}\n${remedy}`;
}

/** What an error says of single values, with options in place of fields; empty when it is about something else. */
export function valueFaults(error: unknown): { readonly option: string; readonly text: string }[] {
  if (!(error instanceof ApiError)) return [];
  return (error.body.details ?? []).map(({ field, message }) => {
    const option = optionOf(field);
    return { option, text: option === '' ? message : `${option}: ${message}` };
  });
}

function optionOf(field: string): string {
  if (field === '') return '';
  return `--${field.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
