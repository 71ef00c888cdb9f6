import type { Type } from '@nestjs/common';
import { modulesFile } from '#project-modules';

/**
 * The module of the application: that of this checkout, or, in a project that names its modules, the platform alone, so that the features
 * of this checkout are not even imported unless the project imports them.
 */
export const AppModule: Type =
  modulesFile() === undefined
    ? (await import('./app.module.js')).AppModule
    : (await import('./platform.module.js')).PlatformModule;
