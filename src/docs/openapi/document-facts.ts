import type { INestApplication } from '@nestjs/common';
import { ClientQuotas } from '../../auth/clients/client-quotas.js';
import { Settings } from '../../core/config/settings.js';
import { publicPrefix } from '../../core/public-prefix.js';
import { PLANS } from '../../throttling/plans.js';
import type { QuotaPolicy } from '../../throttling/quota-policy.js';

/** The facts about the running service in the prose of a document. */
export interface DocumentFacts {
  /** What the API is for. */
  readonly description: string;
  /** What keys begin with. */
  readonly keyPrefix: string;
  /** The plans with their limits, as a table in Markdown. */
  readonly plans: string;
  /** Makes a link of a page of this service, such as `/docs/errors`: puts the path before it that PUBLIC_BASE_URL has. */
  readonly page: (path: string) => string;
}

/** The facts of an application, as it is configured. */
export function documentFactsOf(app: INestApplication): DocumentFacts {
  const { apiDescription, apiKeyPrefix, publicBaseUrl } = app.get(Settings);
  const before = publicPrefix(publicBaseUrl);
  return {
    description: apiDescription,
    keyPrefix: apiKeyPrefix,
    plans: plansTable(app.get(ClientQuotas, { strict: false }).policy),
    page: (path) => before + path,
  };
}

function plansTable(policy: QuotaPolicy): string {
  const rows = PLANS.map((plan) => {
    const name = plan[0]?.toUpperCase() + plan.slice(1);
    if (plan === 'enterprise') return `| ${name} | custom | custom |`;
    const { perMinute, perDay } = policy.limitsOf(plan);
    return `| ${name} | ${perMinute.toLocaleString('en')} | ${perDay.toLocaleString('en')} |`;
  });
  return ['| Plan | Requests per minute | Requests per day |', '|---|---|---|', ...rows].join('\n');
}

/** The statement of every document about unknown parameters and fields. */
export const UNKNOWN_PARAMETERS =
  'A query parameter that an operation does not name is ignored; one that it names in another spelling (`Status`, ' +
  '`status[]`) is refused, as is every unknown field of a body.';
