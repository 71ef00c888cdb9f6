import { ApiError } from '../errors/api-error.js';
import { errorCatalogue } from '../errors/define-errors.js';
import { SettingsError } from '../config/setting.js';

/** A command that cannot be carried out, for a reason that only the command line has. */
export class Refusal extends Error {}

/** What standard error says of a command that was refused or failed: why, and what to do. */
export function reasonOf(error: unknown): string {
  if (error instanceof SettingsError) return `The settings are wrong:\n${error.message}`;
  if (error instanceof Refusal) return error.message;
  if (error instanceof ApiError) return faceOf(error);
  return `Failed: ${error instanceof Error ? error.message : String(error)}`;
}

/** The same words as over HTTP; a field is named by its option. */
function faceOf({ code, message, body: { details } }: ApiError): string {
  if (details) return details.map((fault) => `${optionOf(fault.field)}${fault.message}`).join('\n');
  const remedy = errorCatalogue().find((row) => row.code === code)?.remedy;
  return remedy === undefined ? message : `${message}\n${remedy}`;
}

function optionOf(field: string): string {
  if (field === '') return '';
  const words = field.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `--${words}: `;
}
