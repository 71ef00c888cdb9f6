import type { INestApplication } from '@nestjs/common';
import { ClientQuotas } from '../../auth/clients/client-quotas.js';
import { Settings } from '../../core/config/settings.js';
import { publicPrefix } from '../../core/public-prefix.js';
import { PLANS } from '../../throttling/plans.js';
import type { QuotaPolicy } from '../../throttling/quota-policy.js';

/** Facts about the running service for the introduction of a document. */
export interface DocumentFacts {
  readonly description: string;
  readonly keyPrefix: string;
  /** The plans with their limits, as a Markdown table. */
  readonly plans: string;
  /** Converts the path of one of this service's pages, such as `/docs/errors`, to a link, with the path prefix of PUBLIC_BASE_URL. */
  readonly page: (path: string) => string;
}

/** The facts of an application's configuration. */
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

/** The statement about unknown parameters and fields in every document. */
export const UNKNOWN_PARAMETERS =
  'Unknown query parameters are ignored. A misspelled query parameter (`Status`, `status[]`) or an unknown field in a body returns 400.';
