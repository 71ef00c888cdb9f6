import { controllerText } from './controller-text.js';
import { dtoText } from './dto-text.js';
import type { FeaturePlan } from './feature-plan.js';
import { type Exports, PLATFORM_EXPORTS, withImports } from './imports.js';
import { demoDataText, moduleText, publicText } from './module-texts.js';
import { EVENT, constantOf, errorsText, eventsText, scopesText } from './resource-texts.js';
import { serviceText } from './service-text.js';
import { suiteText } from './suite-text.js';
import { entityText, enumName, tableMigrationText, valuesName } from './table-texts.js';

/** The files of a feature, by their paths in the project. `time` in milliseconds orders its migration behind all others. */
export function featureFiles(plan: FeaturePlan, time: number): Map<string, string> {
  const own = exportsOf(plan);
  const { feature, operations } = plan;
  const hasEvents = (['create', 'update', 'delete'] as const).some((one) => operations.has(one));
  const texts: [kind: string, text: string][] = [
    ['entity', entityText(plan)],
    ['migration', tableMigrationText(plan, time)],
    ['scopes', scopesText(plan)],
    ['errors', errorsText(plan)],
    ...(hasEvents ? [['events', eventsText(plan)] as [string, string]] : []),
    ['dto', dtoText(plan)],
    ['service', serviceText(plan)],
    ['controller', controllerText(plan)],
    ['demo-data', demoDataText(plan)],
    ['module', moduleText(plan)],
    ['spec', suiteText(plan)],
  ];
  const files = texts.map(([kind, text]): [string, string] => [
    `src/${feature}/${kind === 'entity' ? plan.singular : feature}.${kind}.ts`,
    withImports(text, PLATFORM_EXPORTS, own),
  ]);
  return new Map([...files, [`src/${feature}/${feature}.public.ts`, publicText(plan)]]);
}

/** What the files of a feature use of one another. */
function exportsOf({ feature, singular, entity, plural, constant, error, fields }: FeaturePlan): Exports {
  const enums = fields.filter(({ values }) => values !== undefined);
  const of = (kind: string) => `./${feature}.${kind}.js`;
  return {
    [`./${singular}.entity.js`]: [
      entity,
      ...enums.flatMap((field) => [valuesName(entity, field), `type ${enumName(entity, field)}`]),
    ],
    [of('scopes')]: [`${constant}_SCOPES`],
    [of('errors')]: [`${constant}_ERRORS`],
    [of('events')]: Object.values(EVENT).map((ending) => `${constantOf(error)}_${ending}`),
    [of('dto')]: ['Params', 'Dto', 'Patch']
      .map((ending) => `${entity}${ending}`)
      .concat(`New${entity}`, `List${plural}Query`),
    [of('service')]: [`${plural}Service`],
    [of('controller')]: [`${plural}Controller`],
    [of('demo-data')]: [`${plural}DemoData`],
  };
}
