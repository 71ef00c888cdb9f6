import type { INestApplication, Type } from '@nestjs/common';
import { METHOD_METADATA, VERSION_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { versionOf } from '../../http/path-version.js';

/**
 * The modules that have an operation below a prefix. Schemas of one name are one to @nestjs/swagger, although a Pet of the second
 * version is another one than that of the first.
 */
export function modulesOf(app: INestApplication, prefix: string): Type[] {
  const version = versionOf(prefix);
  const modules = app
    .get(DiscoveryService)
    .getControllers()
    .filter(({ metatype }) =>
      versionsOf(metatype as Type).some((one) => one === version || one === undefined),
    )
    .map(({ host }) => host?.metatype as Type);
  return [...new Set(modules)];
}

/** The versions of a controller's operations, as Nest keeps them; undefined for one without, which may have any path. */
function versionsOf(controller: Type): (string | undefined)[] {
  const versionAt = (target: object) =>
    Reflect.getMetadata(VERSION_METADATA, target) as string | string[] | undefined;
  const scanner = new MetadataScanner();
  const prototype = controller.prototype as Readonly<Record<string, object>>;
  return scanner
    .getAllMethodNames(prototype)
    .map((name) => prototype[name])
    .filter((method) => method !== undefined && Reflect.hasMetadata(METHOD_METADATA, method))
    .flatMap((method) => versionAt(method as object) ?? versionAt(controller));
}
