import { type RefusedRequestDto, toRefusedRequestDto } from '../admin/dto/refused-request.dto.js';
import { RequestHistory } from '../auth/usage/request-history.js';
import type { Call } from './frame/call.js';
import { type Column, factsOf } from './frame/list-table.js';
import { Refusal } from '../core/refusal.js';
import { LimitOption, everyPage, inputOf, ofClient } from './frame/service-calls.js';
import { tableOf } from './frame/table.js';

const REQUEST_ID: Column<RefusedRequestDto> = ['request id', ({ requestId }) => requestId];
const OUTCOME = ['operation', 'status', 'code', 'address'] as const;

/** `petstore request list`. */
export async function list(call: Call): Promise<void> {
  const { limit } = await inputOf(LimitOption, call.options);
  const app = await call.start();
  const filter = await ofClient(app, call);
  const found = await everyPage((page) => app.get(RequestHistory).errors(page, filter), limit);
  const columns = ['at', 'clientId', ...OUTCOME, REQUEST_ID, 'keyId'] as const;
  await call.showList(found.map(toRefusedRequestDto), columns, 'There is no such request.');
}

/** `petstore request show`. */
export async function show(call: Call, requestId: string): Promise<void> {
  const app = await call.start();
  const found = await app.get(RequestHistory).errors({ limit: 100 }, { requestId });
  const shown = found.items.map(toRefusedRequestDto);
  if (shown.length === 0)
    throw new Refusal(
      `No request ${requestId} is kept: the last 200 errors of each client are, for USAGE_RETENTION_DAYS. The log has all requests.`,
    );
  const facts = ['at', REQUEST_ID, 'clientId', 'keyId', ...OUTCOME] as const;
  await call.show(shown, () => shown.map((one) => tableOf(factsOf(one, facts))).join('\n\n'));
}
