import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { DECORATORS } from '@nestjs/swagger';
import { ErrorSchema } from '../../core/errors/api-errors.decorator.js';
import { invalidDeclaration } from '../../core/declaration-errors.js';
import { filesDeclaring } from '../../database/declared-files.js';
import { declaredMembers } from '../../database/declared-members.js';
import { classesIn, schemaName } from '../../http/operations/declared-shape.js';
import { type RegisteredOperation, operationsOf } from '../../http/operations/registered-operation.js';
import { ACCOUNT_DOCUMENT, ADMIN_DOCUMENT, documentOfVersion } from './document-outlines.js';
import { isBelow, versionsOf } from './documented-handlers.js';
import { hasWebhooks, webhookModels } from './webhook-callbacks.js';

/** The metadata of @nestjs/swagger for a parameter, body or response. */
interface Described {
  readonly type?: unknown;
}

/**
 * Checks that no two classes have the same schema name in a document, because @nestjs/swagger would merge them. Throws DeclarationError
 * with their files.
 */
@Injectable()
export class SchemaNames implements OnModuleInit {
  constructor(private readonly discovery: DiscoveryService) {}

  async onModuleInit(): Promise<void> {
    const operations = operationsOf(this.discovery);
    const versions = new Set(operations.flatMap(versionsOf).filter((one) => typeof one === 'string'));
    const prefixes = [...versions].map((version) => documentOfVersion(version).prefix);
    for (const prefix of [ACCOUNT_DOCUMENT.prefix, ADMIN_DOCUMENT.prefix, ...prefixes]) {
      const byName = new Map<string, Type>();
      const all = operations.filter((one) => isBelow(one, prefix)).flatMap(classesOf);
      const ofWebhooks = hasWebhooks(prefix) ? webhookModels() : [];
      for (const one of withNested([ErrorSchema, ...ofWebhooks, ...all])) {
        const name = schemaName(one);
        const other = byName.get(name);
        if (other) await refuse(name, other, one);
        byName.set(name, one);
      }
    }
  }
}

function classesOf({ controller, handler, parameters, response }: RegisteredOperation): Type[] {
  const described = (key: string): unknown[] =>
    [Reflect.getMetadata(key, handler), Reflect.getMetadata(key, controller)].flatMap((value: unknown) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  const types = [
    ...[...described(DECORATORS.API_RESPONSE), ...described(DECORATORS.API_PARAMETERS)].map(
      (one) => (one as Described).type,
    ),
    ...described(DECORATORS.API_EXTRA_MODELS),
    ...parameters.flatMap(({ kind, metatype }) => (kind === 'custom' ? [] : [metatype])),
    response?.dto,
  ];
  return types.flat().filter((type): type is Type => typeof type === 'function');
}

/** Those of these classes that declare members, and the classes of their members, without duplicates. */
function withNested(classes: readonly Type[]): Set<Type> {
  const found = new Set<Type>();
  const pending = [...classes];
  for (let one = pending.pop(); one; one = pending.pop()) {
    const members = found.has(one) ? [] : declaredMembers(one);
    if (members.length === 0) continue;
    found.add(one);
    pending.push(...classesIn(one));
  }
  return found;
}

async function refuse(name: string, ...classes: readonly Type[]): Promise<never> {
  const files = await filesDeclaring(classes.map((one) => one.name));
  return invalidDeclaration(
    `Two classes have the schema name "${name}" in one document: ${files.join(' and ') || 'of packages'}. ` +
      'Rename one of them, or give it another name with @ApiSchema({ name }).',
  );
}
