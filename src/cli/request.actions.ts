import { type RefusedRequestDto, toRefusedRequestDto } from '../admin/dto/refused-request.dto.js';
import { RequestHistory } from '../auth/clients/request-history.js';
import type { Call } from './call.js';
import { Moment, listTable } from './list-table.js';
import { Refusal } from './refusal.js';
import { LimitOption, clientIdOf, everyPage, inputOf } from './service-calls.js';
import { tableOf } from './table.js';

const COLUMNS = ['AT', 'CLIENT', 'OPERATION', 'STATUS', 'CODE', 'ADDRESS', 'REQUEST ID', 'KEY'];

/** `petstore request list`. */
export async function list(call: Call): Promise<void> {
  const { limit } = await inputOf(LimitOption, call.options);
  const found = await call.inApp(async (app) => {
    const clientId = await clientIdOf(app, call.options.client);
    const filter = clientId === undefined ? {} : { clientId };
    return everyPage((page) => app.get(RequestHistory).errors(page, filter), limit);
  });
  const shown = found.map(toRefusedRequestDto);
  const cells = (one: RefusedRequestDto) => {
    const { at, clientId, operation, status, code, address, requestId, keyId } = one;
    return [new Moment(at), clientId, operation, status, code, address, requestId, keyId];
  };
  await call.show(shown, (view) =>
    shown.length === 0 ? 'There is no such request.' : listTable(COLUMNS, shown.map(cells), view),
  );
}

/** `petstore request show`. */
export async function show(call: Call, requestId: string): Promise<void> {
  const found = await call.inApp((app) => app.get(RequestHistory).errors({ limit: 100 }, { requestId }));
  const shown = found.items.map(toRefusedRequestDto);
  if (shown.length === 0)
    throw new Refusal(
      `No request ${requestId} is kept: the last 200 errors of each client are, for USAGE_RETENTION_DAYS. The log has all requests.`,
    );
  await call.show(shown, () =>
    shown
      .map((one) =>
        tableOf([
          ['at', one.at],
          ['request id', one.requestId],
          ['client', one.clientId],
          ['key', one.keyId],
          ['operation', one.operation],
          ['status', one.status],
          ['code', one.code],
          ['address', one.address],
        ]),
      )
      .join('\n\n'),
  );
}
