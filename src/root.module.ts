import type { Type } from '@nestjs/common';
import { modulesFile } from '#project-modules';

/**
 * The application's module: that of this checkout or, in a project that names its modules, the platform alone. The features of this
 * checkout are then not even imported unless the project imports them.
 */
export const AppModule: Type =
  modulesFile() === undefined
    ? (await import('./app.module.js')).AppModule
    : (await import('./platform.module.js')).PlatformModule;
