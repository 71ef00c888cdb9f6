import 'reflect-metadata';
// Importing the modules registers their tables.
import { AppModule } from './src/app.module.js';
import { loadSettings } from './src/core/config/settings.js';
import { projectModules } from './src/core/project-modules.js';
import { createDataSource } from './src/database/data-source.js';
import { tablesBelow } from './src/database/tables.module.js';

tablesBelow(AppModule, ...(await projectModules()));

/** The service's DataSource, for the TypeORM CLI: `npx typeorm migration:show -d dist/ormconfig.js`. */
export default await createDataSource(loadSettings(), { isUnlimited: true });
