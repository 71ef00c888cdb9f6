import { describe, expect, it } from 'vitest';
import { OPERATIONS, parseField, planFeature } from './feature-plan.js';
import { withModule } from './module-texts.js';

const plan = (feature: string) => planFeature(feature, [parseField('name:text')], new Set(OPERATIONS));

const appModule = (imports: readonly string[], modules: string) =>
  `import { Module } from '@nestjs/common';
${imports.join('\n')}

@Module({ imports: [${modules}] })
export class AppModule {}
`;
const ADMIN = "import { AdminModule } from './admin/admin.module.js';";
const PETS = "import { PetsModule } from './pets/pets.module.js';";
const TOYS = "import { ToysModule } from './toys/toys.module.js';";
const BOXES = "import { BoxesModule } from './boxes/boxes.module.js';";

describe('a module is listed', () => {
  it.each([
    [
      'before the administration',
      'toys',
      'PetsModule, AdminModule',
      [ADMIN, PETS, TOYS],
      'PetsModule, ToysModule, AdminModule',
    ],
    [
      'before self-service',
      'toys',
      'PetsModule, AccountModule, AdminModule',
      [ADMIN, PETS, TOYS],
      'PetsModule, ToysModule, AccountModule, AdminModule',
    ],
    [
      'between imports',
      'boxes',
      'PetsModule, AdminModule',
      [ADMIN, BOXES, PETS],
      'PetsModule, BoxesModule, AdminModule',
    ],
    ['without an administration', 'toys', 'PetsModule', [ADMIN, PETS, TOYS], 'PetsModule, ToysModule'],
    [
      'beside a dynamic module',
      'toys',
      'X.forRoot({ a: [] }), AdminModule',
      [ADMIN, PETS, TOYS],
      'X.forRoot({ a: [] }), ToysModule, AdminModule',
    ],
    [
      'where the list has a line each',
      'toys',
      '\n  PetsModule,\n  AdminModule,\n',
      [ADMIN, PETS, TOYS],
      '\n  PetsModule,\n  ToysModule, AdminModule,\n',
    ],
  ])('%s', (_, feature, before, imports, after) => {
    const listed = withModule(appModule([ADMIN, PETS], before), plan(feature));
    expect(listed).toBe(after === undefined ? undefined : appModule(imports, after));
  });

  it('nowhere when app.module.ts declares its modules in another way', () => {
    expect(withModule('export const modules = [];', plan('toys'))).toBeUndefined();
  });
});
