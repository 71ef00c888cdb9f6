/** Names that generated files use, by the module that they are imported from; behind `type` those that exist in types alone. */
export type Exports = Readonly<Record<string, readonly string[]>>;

/** What generated files use of packages, and of the service by its name. */
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
  'petstore-service': [
    'ApiError',
    'ApiErrors',
    'Cached',
    'defineErrors',
    'defineEvent',
    'defineScopes',
    'type DemoDataProvider',
    'DomainEvents',
    'Enum',
    'Filter',
    'Idempotent',
    'IfMatch',
    'Instant',
    'Int64',
    'Int64Column',
    'Int64Key',
    'Integer',
    'type JsonPage',
    'JsonRows',
    'type JsonText',
    'MergePatch',
    'NEXT_PAGE',
    'Operation',
    'Paged',
    'PageQuery',
    'type Pager',
    'type PageRequest',
    'type Precondition',
    'ProvidesDemoData',
    'References',
    'RequireScopes',
    'Sort',
    'Tag',
    'Text',
    'Uuid',
  ],
  'petstore-service/testing': ['TestService', 'unindexedLists'],
};

/** Characters of a line, as .prettierrc has it. */
const PRINT_WIDTH = 110;

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
  const isOfTypes = names.every((name) => name !== bare(name));
  const shown = isOfTypes ? names.map(bare) : names;
  const keyword = isOfTypes ? 'import type' : 'import';
  const line = `${keyword} { ${shown.join(', ')} } from '${module}';\n`;
  if (line.length <= PRINT_WIDTH + 1) return line;
  return `${keyword} {\n${shown.map((name) => `  ${name},\n`).join('')}} from '${module}';\n`;
}

function bare(name: string): string {
  return name.replace(/^type /, '');
}

/** Code without comments and strings, in which a name is only a word. */
function withoutWords(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'/g, '');
}
