import { holdsApiKey } from '../../accounts/api-key.format.js';
import { DAYS_KEPT, DAYS_SHOWN } from '../../accounts/usage.service.js';
import { FlagParameter } from '../../input/enum.js';
import { IntegerParameter } from '../../input/integer.js';
import { Rule } from '../../input/rule.js';
import { UuidParameter } from '../../input/text.js';
import { PageQuery } from '../../paging/page.query.js';

const DAYS = {
  description: 'How many UTC days to show, today among them',
  minimum: 1,
  maximum: DAYS_KEPT,
  default: DAYS_SHOWN,
};

/** Path parameter of one client. */
export class ClientParams {
  @UuidParameter({ description: 'Id of the client' })
  clientId!: string;
}

/** Path parameter of one key. */
export class KeyParams {
  @UuidParameter({ description: 'Id of the key' })
  keyId!: string;
}

/** Query of an operation that may end the last key with the scope admin. */
export class ForceQuery {
  @FlagParameter({ description: 'Do it even if nothing is left that works with the scope `admin`' })
  force!: boolean;
}

/** Query of one client. */
export class DaysQuery {
  @IntegerParameter(DAYS)
  days!: number;
}

/** Query of the usage of all clients. */
export class UsageQuery extends PageQuery {
  @IntegerParameter(DAYS)
  days!: number;
}

/** Query of the list of keys. */
export class KeysQuery extends PageQuery {
  @UuidParameter({ description: 'Only keys of this client', optional: true })
  client?: string;
}

/** Query of the audit trail. */
export class AuditQuery extends PageQuery {
  @UuidParameter({ description: 'Only changes of this client and its keys', optional: true })
  client?: string;

  @UuidParameter({ description: 'Only changes of this key', optional: true })
  key?: string;
}

/** Refuses a text that contains an API key: names and labels are shown and logged, and a key must never be. */
export function WithoutApiKey(): PropertyDecorator {
  return Rule(
    'holds_api_key',
    'This must not hold an API key.',
    (value) => typeof value !== 'string' || !holdsApiKey(value),
  );
}
