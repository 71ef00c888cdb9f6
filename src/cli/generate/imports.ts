/** Names that generated files use, by the module that they are imported from; behind `type` those that exist in types alone. */
export type Exports = Readonly<Record<string, readonly string[]>>;

/** What generated files use of packages and of the platform. Paths are those of a feature's folder below src. */
export const PLATFORM_EXPORTS: Exports = {
  '@nestjs/common': [
    'Body',
    'Controller',
    'Delete',
    'Get',
    'Injectable',
    'Module',
    'Param',
    'Patch',
    'Post',
    'Query',
  ],
  '@nestjs/swagger': ['ApiSchema', 'OmitType'],
  '@nestjs/typeorm': ['InjectRepository', 'TypeOrmModule'],
  typeorm: [
    'Check',
    'Column',
    'DataSource',
    'Entity',
    'ForeignKey',
    'In',
    'Index',
    'type MigrationInterface',
    'type QueryRunner',
    'type Repository',
    'Table',
  ],
  vitest: ['afterAll', 'beforeAll', 'expect', 'it'],
  '../accounts/scopes.js': ['defineScopes'],
  '../auth/auth.decorators.js': ['RequireScopes'],
  '../caching/if-match.decorator.js': ['IfMatch'],
  '../caching/precondition.js': ['type Precondition'],
  '../caching/response-cache.js': ['Cached'],
  '../database/demo-data.js': ['type DemoDataProvider', 'ProvidesDemoData'],
  '../database/int64.js': ['Int64Column', 'Int64Key'],
  '../database/json-rows.js': ['type JsonPage', 'JsonRows', 'type JsonText'],
  '../database/keyset-page.js': ['type PageRequest'],
  '../database/references.js': ['References'],
  '../errors/api-error.js': ['ApiError'],
  '../errors/api-errors.decorator.js': ['ApiErrors'],
  '../errors/define-errors.js': ['defineErrors'],
  '../events/domain-events.js': ['DomainEvents', 'defineEvent'],
  '../idempotency/idempotent.decorator.js': ['Idempotent'],
  '../input/fields.js': ['Enum', 'Instant', 'Int64', 'Integer', 'Text', 'Uuid'],
  '../input/merge-patch.js': ['MergePatch'],
  '../openapi/operation.decorator.js': ['NEXT_PAGE', 'Operation', 'Tag'],
  '../paging/pager.js': ['PageQuery', 'Paged', 'type Pager'],
  '../paging/selection.decorators.js': ['Filter', 'Sort'],
  '../testing/testing.js': ['TestService', 'unindexedLists'],
};

/** A text with the imports of the names that it uses. */
export function withImports(text: string, ...exports: readonly Exports[]): string {
  const code = withoutWords(text);
  const isUsed = (name: string) => new RegExp(`\\b${bare(name)}\\b`).test(code);
  const isDeclared = (name: string) => new RegExp(`\\b(?:class|const|type) ${bare(name)}\\b`).test(code);
  const lines = exports
    .flatMap((one) => Object.entries(one))
    .toSorted(([a], [b]) => compare(a, b))
    .map(([module, names]) =>
      importText(
        module,
        names.filter((name) => isUsed(name) && !isDeclared(name)),
      ),
    );
  return `${lines.join('')}\n${text}`.trimStart();
}

/** Packages first, then what lies outside of the feature's folder, then its own files. */
function compare(a: string, b: string): number {
  const rank = (module: string) => (module.startsWith('./') ? 2 : Number(module.startsWith('../')));
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

function importText(module: string, names: readonly string[]): string {
  if (names.length === 0) return '';
  return names.every((name) => name !== bare(name))
    ? `import type { ${names.map(bare).join(', ')} } from '${module}';\n`
    : `import { ${names.join(', ')} } from '${module}';\n`;
}

function bare(name: string): string {
  return name.replace(/^type /, '');
}

/** Code without comments and strings, in which a name is only a word. */
function withoutWords(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'/g, '');
}
