import { InvalidArgumentError } from 'commander';
import { stringify } from 'lossless-json';
import type { CommandFacts } from '../../admin/commands/operation-table.js';
import { Refusal } from '../../core/refusal.js';
import { parseDuration } from '../../core/time/duration.js';
import type { Call } from '../frame/call.js';
import { type Column, type Row, type View, factsText, textOf } from '../frame/list-table.js';
import { endpointOf, idOf, isKey } from './named.js';
import { type Input, type Operation, optionName } from './operations.js';
import { type Sent, type Service, exactJson, read, readList, send } from './service.js';

/** The values of arguments and options; undefined if not given. */
export type InputValues = ReadonlyMap<Input, unknown>;

/** Asks for confirmation of an irreversible change, sends the command's request and shows the response. */
export async function runOperation(
  call: Call,
  operation: Operation,
  inputValues: InputValues,
): Promise<void> {
  const { facts, inputs, method } = operation;
  const values = new Map([...inputValues].filter(([, value]) => value !== undefined));
  for (const [input, value] of values)
    if (isKey(input)) values.set(input, await call.secret(String(value), 'Key'));
  const ofBody = [...inputValues.keys()].filter((input) => input.in === 'body');
  if (method === 'patch' && ofBody.length > 0 && !ofBody.some((input) => values.has(input)))
    throw new InvalidArgumentError(
      `Name at least one change: ${ofBody.map((input) => `--${optionName(input)}`).join(', ')}.`,
    );
  const question = questionOf(operation, call);
  if (question !== undefined) call.requireConsent();
  const service = await call.service(facts.createsDatabase ? 'write' : 'read');
  for (const [input, value] of values) values.set(input, await valueOf(service, input, value));
  const ofPlace = (place: Input['in']): Record<string, unknown> =>
    Object.fromEntries(
      [...values].flatMap(([input, value]) => (input.in === place ? [[input.name, value]] : [])),
    );
  const ofPath = ofPlace('path');
  if ('deliveryId' in ofPath)
    ofPath['endpointId'] ??= await endpointOf(service, String(ofPath['deliveryId']));
  const [, one = '', rest = ''] = /^(.*\})?(.*)$/.exec(operation.path) ?? [];
  const path = one.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(ofPath[name])));
  if (question !== undefined) {
    const about = question.includes('{') ? await read(service, { method: 'get', path }) : {};
    await call.confirm(filled(question, { ...(about as Row), ...call.options }));
  }
  const hasBody = inputs.some((input) => input.in === 'body');
  const body = hasBody ? { body: { ...ofPlace('body'), ...facts.fixed } } : {};
  await carryOut(call, operation, service, { method, path: path + rest, query: ofPlace('query'), ...body });
}

/** The confirmation prompt, if the command with these options is irreversible. */
function questionOf(
  { facts, method, command: commandName }: Operation,
  { options }: Call,
): string | undefined {
  const [option = '', value] = facts.confirmation ?? [];
  const isRequired = option === '' || (value === undefined ? option in options : options[option] === value);
  const { question = method === 'delete' ? `Run "petstore ${commandName}" permanently` : undefined } = facts;
  return isRequired ? filledText(question, options) : undefined;
}

/** The value to send: an id for a name, a time for a date or duration, null to clear a value, and JSON of the declared type in a body. */
async function valueOf(service: Service, input: Input, value: unknown): Promise<unknown> {
  const { type = 'string', nullable = false } = input.schema;
  if (typeof value === 'string' && input.in === 'query' && input.schema.format === 'date-time')
    return instantOf(value);
  if (typeof value !== 'string') return value === false && nullable && type !== 'boolean' ? null : value;
  if (input.in !== 'body' || type === 'string') return idOf(service, input, value);
  try {
    return exactJson(value);
  } catch {
    // The service reports the error.
    return value;
  }
}

/** The instant of a date, or of how long ago something was; any other text as it is. */
function instantOf(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return `${text}T00:00:00.000Z`;
  const ago = parseDuration(text);
  return ago === undefined ? text : new Date(Date.now() - ago).toISOString();
}

async function carryOut(call: Call, operation: Operation, service: Service, sent: Sent): Promise<void> {
  const { facts, isList, isPaged, isText } = operation;
  if (isText) {
    for await (const part of (await send(service, sent)).setEncoding('utf8'))
      if (!(await call.write(String(part)))) break;
    return;
  }
  if (!isList) {
    const result = await read(service, sent);
    const text = (view: View): string =>
      facts.isDocument
        ? String(stringify(result, undefined, 2))
        : resultText((result ?? {}) as Row, operation, call, view);
    await (sent.method === 'get' ? call.show(result, text) : call.showChange(result, text));
    return;
  }
  const max: unknown = call.options.limit ?? facts.limit ?? Infinity;
  const { entries: rows, total } = isPaged
    ? await readList<Row>(service, sent, max)
    : { entries: (await read(service, sent)) as Row[], total: undefined };
  const columns = columnsOf(operation, rows[0]);
  if (facts.none === undefined) await call.showList(rows, columns, 'There are no entries.', total);
  else if (rows.length === 0) throw new Refusal(filled(facts.none, sent.query ?? {}));
  else await call.show(rows, (view) => rows.map((row) => factsText(row, columns, view)).join('\n\n'));
}

function columnsOf({ facts: { columns, cells = {} } }: Operation, row: Row = {}): readonly Column[] {
  return [...(columns?.split(' ') ?? Object.keys(row)), ...Object.entries(cells)];
}

/** The message after the change, the object's current state and, if it is new, its secret, which is shown only once. */
function resultText(result: Row, operation: Operation, { options }: Call, view: View): string {
  const { columns } = operation.facts;
  const done = filledText(operation.facts.done, options, result);
  const { key, secret = key, ...others } = result;
  const once = (secret as Row | undefined)?.['key'] ?? secret;
  const isNew = operation.method === 'post' && typeof once === 'string';
  return [
    ...(done === undefined ? [] : [filled(done, result)]),
    ...(done === undefined || columns !== undefined
      ? [factsText(result, columnsOf(operation, isNew ? others : result), view)]
      : []),
    ...(isNew ? [`\nThe secret is shown only once:\n\n${once}`] : []),
  ].join('\n');
}

function filledText(
  template: CommandFacts['done'],
  options: Call['options'],
  result?: Row,
): string | undefined {
  return typeof template === 'function' ? template(options, result as never) : template;
}

/** Replaces each `{name}` with its value. */
function filled(text: string, values: Row): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => textOf(values[name] ?? null, ', '));
}
