import type { EntityManager } from 'typeorm';
import { PLANS } from '../../throttling/plans.js';
import { Client } from './client.entity.js';

/** A message with the remedy for each plan that clients have but PLANS no longer defines. */
export async function unknownPlanErrors(manager: EntityManager): Promise<string[]> {
  const query = manager.createQueryBuilder(Client, 'client').select('client.plan', 'plan').distinct();
  const rows = await query.where('client.plan NOT IN (:...plans)', { plans: PLANS }).getRawMany<Client>();
  return rows.map(
    ({ plan }) =>
      `Clients have the plan ${plan}, which PLANS does not contain, so they get the limits of free. Add it to PLANS, or move them to ` +
      'another plan with `petstore client set-plan`.',
  );
}
