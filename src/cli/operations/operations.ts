import { isCommandName, commandsFor, kebab } from '../../admin/commands/command-names.js';
import { type CommandFacts, OPERATION_TABLE } from '../../admin/commands/operation-table.js';
import { PLANS } from '../../throttling/plans.js';

/** Options that every command can have. */
const RESERVED = /^(?:help|json|wide|yes)$/;

/** The parts of an OpenAPI schema that commands are derived from. */
interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: unknown;
  readonly nullable?: boolean;
  readonly default?: string | number | boolean;
  readonly description?: string;
  readonly example?: unknown;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface OperationObject {
  readonly operationId?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly (Schema & {
    readonly name: string;
    readonly in: string;
    readonly schema?: Schema;
  })[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
  readonly 'x-command'?: string;
}

/** The OpenAPI document of the administration. */
export interface AdminDocument {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A parameter of an operation, or a member of its body. */
export interface Input {
  readonly name: string;
  readonly in: string;
  readonly isRequired: boolean;
  readonly schema: Schema;
}

/** An operation of the administration as a command. */
export interface Operation {
  /** Group and command, such as `client list`. */
  readonly command: string;
  readonly facts: Partial<CommandFacts>;
  /** In lower case, as in the document. */
  readonly method: string;
  /** Below `/admin`, such as `/keys/{keyId}`. */
  readonly path: string;
  /** Descriptions of the operation and of its group. */
  readonly texts: readonly [operation: string, group: string];
  readonly inputs: readonly Input[];
  readonly isList: boolean;
  /** Whether the list is paginated. */
  readonly isPaged: boolean;
  /** Whether its response is not JSON but, for example, CSV. */
  readonly isText: boolean;
}

/** The operations of a document that are commands, the platform's first: those with a command name and a JSON body or none. */
export function operationsOf(document: AdminDocument): Operation[] {
  const order = Object.keys(OPERATION_TABLE);
  const positionOf = ({ command }: Operation): number =>
    order.includes(command) ? order.indexOf(command) : order.length;
  const found = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      operation.requestBody && !isJson(operation.requestBody)
        ? []
        : commandsFor(operation.operationId, operation['x-command'], method, path).map((command) => ({
            command,
            facts: OPERATION_TABLE[command] ?? {},
            method,
            path,
            ...shapeOf(document, operation),
          })),
    ),
  );
  return found
    .filter(({ command }) => isCommandName(command))
    .toSorted((a, b) => positionOf(a) - positionOf(b));
}

function shapeOf(
  { components, tags: groups }: AdminDocument,
  { description = '', tags = [], parameters = [], requestBody, responses }: OperationObject,
) {
  const resolved = (schema: Schema): Schema => {
    const [reference = schema.$ref] = (schema.allOf ?? []).map(({ $ref }) => $ref);
    const name = reference?.split('/').at(-1) ?? '';
    return { ...components.schemas[name], ...(name === 'Plan' ? { enum: PLANS } : {}), ...schema };
  };
  const sent = resolved(schemaOf(requestBody));
  const ofBody = Object.entries(sent.properties ?? {}).map(([name, schema]) => {
    return { name, in: 'body', schema, required: (sent.required as string[] | undefined)?.includes(name) };
  });
  const inputs = [...parameters.filter((one) => one.in !== 'header'), ...ofBody].map((one): Input => {
    const schema = { ...one, ...resolved(one.schema ?? {}) };
    return { name: one.name, in: one.in, isRequired: one.required === true, schema };
  });
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1] ?? {};
  const ofGroup = groups.find(({ name }) => name === tags[0])?.description ?? '';
  return {
    texts: [description, ofGroup] as const,
    inputs,
    isPaged: inputs.some(({ name }) => name === 'cursor'),
    isList: resolved(schemaOf(success)).type === 'array',
    isText: success.content !== undefined && !isJson(success),
  };
}

function isJson({ content = {} }: Content): boolean {
  return 'application/json' in content;
}

function schemaOf({ content = {} }: Content = {}): Schema {
  return content['application/json']?.schema ?? {};
}

/** An input as it is called on the command line: `client` for `clientId`. */
export function optionName({ name }: Input): string {
  const kebabName = kebab(name.replace(/Id$/, ''));
  return RESERVED.test(kebabName) ? `${kebabName}-value` : kebabName;
}
