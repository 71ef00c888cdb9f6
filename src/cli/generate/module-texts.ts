import type { FeaturePlan } from './feature-plan.js';
import { literal } from './resource-texts.js';

/** The module of a feature. */
export function moduleText({ entity, plural, manyWords }: FeaturePlan): string {
  return `
/** The ${manyWords}. */
@Module({
  imports: [TypeOrmModule.forFeature([${entity}])],
  controllers: [${plural}Controller],
  providers: [${plural}Service, ${plural}DemoData],
  exports: [${plural}Service],
})
export class ${plural}Module {}
`;
}

/** The one file of a feature that others may import. */
export function publicText({
  entity,
  plural,
  feature,
  singular,
  constant,
  manyWords,
  operations,
}: FeaturePlan): string {
  const events = ['create', 'update', 'delete'] as const;
  return `// What other features may use of the ${manyWords}.
export { ${entity} } from './${singular}.entity.js';
export { ${constant}_ERRORS } from './${feature}.errors.js';
${events.some((one) => operations.has(one)) ? `export * from './${feature}.events.js';` : ''}
export { ${plural}Module } from './${feature}.module.js';
export { ${plural}Service } from './${feature}.service.js';
`;
}

/** A few rows for an empty store outside production, and for \`petstore db seed\`. */
export function demoDataText({ entity, plural, many, manyWords, fields }: FeaturePlan): string {
  const references = fields.filter(({ references: table, isOptional }) => table !== undefined && !isOptional);
  const reads = references.map(
    (field) => `const ${field.property}s = await this.idsOf('${field.references}');`,
  );
  const none = references.map((field) => `${field.property}s.length === 0`).join(' || ');
  const values = fields.map((field) => {
    const { property, isOptional, references: table, samples, type } = field;
    if (table !== undefined)
      return isOptional
        ? `${property}: null`
        : `${property}: ${property}s[index % ${property}s.length] ?? 0n`;
    const [first, second] = samples.map((sample) => (type === 'bigint' ? `${sample}n` : literal(sample)));
    return `${property}: index % 2 === 0 ? ${first} : ${second}`;
  });
  return `
/** How many rows there are without a number. */
const FEW = 3;

/** Demo data: a few ${manyWords}. */
@Injectable()
@ProvidesDemoData()
export class ${plural}DemoData implements DemoDataProvider {
  constructor(@InjectRepository(${entity}) private readonly ${many}: Repository<${entity}>) {}

  count(): Promise<number> {
    return this.${many}.count();
  }

  async add(count = FEW): Promise<number> {
    ${reads.join('\n')}
    ${none === '' ? '' : `// There is nothing to refer to yet.\nif (${none}) return 0;`}
    await this.${many}.manager.transaction(async () => {
      for (let index = 0; index < count; index += 1)
        await this.${many}.insert({ ${values.join(', ')} });
    });
    return count;
  }
${
  references.length === 0
    ? ''
    : `
  private async idsOf(table: string): Promise<bigint[]> {
    const rows = await this.${many}.manager.getRepository<{ id: bigint }>(table).find({ select: { id: true }, take: 100 });
    return rows.map(({ id }) => id);
  }
`
}}
`;
}

/** The source of app.module.ts with one more module, before self-service and administration. Undefined when it is not as it was made. */
export function withModule(source: string, { feature, plural }: FeaturePlan): string | undefined {
  const module = `${plural}Module`;
  const line = `import { ${module} } from './${feature}/${feature}.module.js';\n`;
  const imports = [...source.matchAll(/^import .* from (?<path>'.*');\n/gm)];
  const last = imports.at(-1);
  const [declared] =
    /@Module\(\{\s*imports: \[[^]*\](?=,?\s*\}\)\s*export class AppModule\b)/.exec(source) ?? [];
  if (declared === undefined || !last) return undefined;
  const listed = /\b(?:Account|Admin)Module\b/.test(declared)
    ? declared.replace(/\b(?:Account|Admin)Module\b/, (first) => `${module}, ${first}`)
    : declared.replace(/,?\s*\]$/, `, ${module}]`);
  const path = `'./${feature}/`;
  const next = imports.find(({ groups }) => {
    const other = groups?.['path'] ?? '';
    return other.startsWith("'./") && other > path;
  });
  const at = next?.index ?? last.index + last[0].length;
  return source.replace(declared, () => listed).replace(source.slice(0, at), (head) => head + line);
}
