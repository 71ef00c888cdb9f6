import { DAY_MS } from '../../core/time/duration.js';
import type { Dialect } from '../../database/dialect.js';
import { DEPRECATED, UNCOUNTED, WITHOUT_KEY } from './client-requests.entity.js';

/** Maximum numbers of stored errors, per client and in total. */
export const [MAX_OPERATIONS_OF_CLIENT, MAX_REFUSED] = [200, 50_000];

/**
 * Maximum numbers of kinds of requests that are counted separately for each client, per day and per minute. The rest is counted as OTHER.
 */
const [MAX_OPERATIONS_OF_DAY, MAX_OF_MINUTE] = [1_000, 200];

/** The operation of requests that are not counted separately, whatever their key. */
export const OTHER = 'other';

/** The class of an outcome in SQL, such as `4xx uncounted` for `404 pet_not_found uncounted`. */
const CLASS = `CASE WHEN substr(outcome, 1, 3) = '429' OR substr(outcome, 1, 1) < '4' THEN substr(outcome, 1, 3)
    ELSE substr(outcome, 1, 1) || 'xx' END || CASE WHEN outcome LIKE '%${UNCOUNTED}' THEN '${UNCOUNTED}' ELSE '' END`;

/** The columns of a row, merged into OTHER if it exceeds the limit. */
const FOLDED = `CASE WHEN is_rest THEN '' ELSE key_id END, CASE WHEN is_rest THEN '${OTHER}' ELSE operation END,
  CASE WHEN is_rest THEN ${CLASS} ELSE outcome END, bucket`;

const ADD = `ON CONFLICT (client_id, length_ms, window_start, key_id, operation, outcome, bucket)
  DO UPDATE SET requests = request_counts.requests + excluded.requests`;

/**
 * Adds to the stored counts, so that several processes count together. A new kind is counted as OTHER if its client has reached the limit
 * of the window; processes that write at the same moment can each exceed it once. Minutes have no latencies.
 */
export const sumUp = (lengthMs: number) => (rows: string) => `
  INSERT INTO request_counts (client_id, length_ms, window_start, key_id, operation, outcome, bucket, requests)
  WITH counted AS (
    SELECT value ->> 'clientId' AS client_id, CAST(value ->> 'start' AS BIGINT) / ${lengthMs} * ${lengthMs} AS window_start,
      value ->> 'keyId' AS key_id, value ->> 'operation' AS operation, value ->> 'outcome' AS outcome,
      ${lengthMs === DAY_MS ? `CAST(value ->> 'bucket' AS INTEGER)` : '0'} AS bucket,
      SUM(CAST(value ->> 'requests' AS INTEGER)) AS requests
    FROM ${rows} AS counted GROUP BY 1, 2, 3, 4, 5, 6
  ), placed AS (
    SELECT counted.*, known.requests IS NULL AND counted.outcome NOT IN ('${DEPRECATED}', '${WITHOUT_KEY}') AS is_new, row_number() OVER (
      PARTITION BY counted.client_id, counted.window_start, known.requests IS NULL ORDER BY counted.requests DESC) AS place
    FROM counted LEFT JOIN request_counts AS known ON known.client_id = counted.client_id AND known.length_ms = ${lengthMs}
      AND known.window_start = counted.window_start AND known.key_id = counted.key_id
      AND known.operation = counted.operation AND known.outcome = counted.outcome AND known.bucket = counted.bucket
  ), totals AS (
    SELECT client_id, window_start, COUNT(*) AS kinds FROM request_counts WHERE length_ms = ${lengthMs}
      AND (client_id, window_start) IN (SELECT client_id, window_start FROM placed WHERE is_new) GROUP BY 1, 2
  ), judged AS (
    SELECT placed.*, is_new AND place + COALESCE(kinds, 0) > ${lengthMs === DAY_MS ? MAX_OPERATIONS_OF_DAY : MAX_OF_MINUTE} AS is_rest
    FROM placed LEFT JOIN totals ON totals.client_id = placed.client_id AND totals.window_start = placed.window_start
  )
  SELECT client_id, ${lengthMs}, window_start, ${FOLDED}, SUM(requests) FROM judged WHERE true GROUP BY 1, 2, 3, 4, 5, 6, 7
  ${ADD}`;

const TOP_OPERATIONS = `CASE length_ms WHEN ${DAY_MS} THEN ${MAX_OPERATIONS_OF_DAY} ELSE ${MAX_OF_MINUTE} END`;

/** The rows beyond the limit of their client and window, those with the fewest requests. */
const EXCESS = `
  SELECT * FROM (
    SELECT counts.*, row_number() OVER (PARTITION BY counts.client_id, counts.length_ms, counts.window_start
      ORDER BY (outcome = '${DEPRECATED}') DESC, requests DESC, key_id, operation, outcome, bucket) AS place
    FROM request_counts AS counts JOIN (
      SELECT client_id, length_ms, window_start FROM request_counts GROUP BY 1, 2, 3
      HAVING COUNT(*) > ${TOP_OPERATIONS}) AS full_windows
    ON full_windows.client_id = counts.client_id AND full_windows.length_ms = counts.length_ms
      AND full_windows.window_start = counts.window_start) AS ranked
  WHERE place > ${TOP_OPERATIONS}
    AND outcome <> '${DEPRECATED}'`;

/** Merge rows that an earlier version stored beyond the limit into OTHER. Run them in this order. */
export const FOLD_EXCESS = [
  `CREATE TEMPORARY TABLE excess_counts AS ${EXCESS}`,
  `DELETE FROM request_counts WHERE (client_id, length_ms, window_start, key_id, operation, outcome, bucket) IN
    (SELECT client_id, length_ms, window_start, key_id, operation, outcome, bucket FROM excess_counts)`,
  `INSERT INTO request_counts (client_id, length_ms, window_start, key_id, operation, outcome, bucket, requests)
    SELECT client_id, length_ms, window_start, '', '${OTHER}', ${CLASS}, bucket, SUM(requests) FROM excess_counts WHERE true
    GROUP BY 1, 2, 3, 4, 5, 6, 7 ${ADD}`,
  'DROP TABLE excess_counts',
];

/**
 * Sets when keys were last used, to the minute, but not before they were created. A later time written by another process is kept, unless
 * the clock has been set back since.
 */
export const COPY_LAST_USE = (rows: string): string => `
  UPDATE api_keys SET last_used_at = CASE WHEN used.at < api_keys.created_at THEN api_keys.created_at ELSE used.at END
  FROM (SELECT value ->> 'keyId' AS key_id, MAX(value ->> 'at') AS at FROM ${rows} AS use GROUP BY 1) AS used
  WHERE api_keys.id = used.key_id AND (last_used_at IS NULL OR last_used_at < used.at OR last_used_at > :soon)`;

const storeFrom = (source: string): string => `
  INSERT INTO refused_requests (at, request_id, client_id, key_id, operation, status, code, address)
  SELECT value ->> 'at', value ->> 'requestId', value ->> 'clientId', value ->> 'keyId', value ->> 'operation',
    CAST(value ->> 'status' AS INTEGER), value ->> 'code', value ->> 'address'
  FROM ${source}`;

/**
 * Stores errors of keys. Ignores deleted clients, about which no process may write. Locks the clients, so it must run before statements
 * that lock their keys, because a deletion locks a client first.
 */
export const STORE_ERRORS_OF_KEYS = (rows: string, dialect: Dialect): string =>
  storeFrom(
    `${rows} AS refused JOIN clients ON clients.id = value ->> 'clientId' ${dialect.lockRows('clients')}`,
  );

/** Stores errors of other credentials, whose users are not clients. */
export const STORE_ERRORS_OF_USERS = (rows: string): string => storeFrom(`${rows} AS refused`);

/**
 * Deletes all but the last errors of these clients, and in total. Writers run one at a time (see Transactions.uncached()), so the limits
 * hold across instances.
 */
export const CUT = (rows: string): string => `
  DELETE FROM refused_requests WHERE id IN (
    SELECT id FROM (
      SELECT id, row_number() OVER (PARTITION BY client_id ORDER BY id DESC) AS place FROM refused_requests
      WHERE client_id IN (SELECT value ->> 'clientId' FROM ${rows} AS client)) AS ranked
    WHERE place > ${MAX_OPERATIONS_OF_CLIENT})`;
export const CUT_ALL = `
  DELETE FROM refused_requests WHERE id <= (SELECT id FROM refused_requests ORDER BY id DESC LIMIT 1 OFFSET ${MAX_REFUSED})`;
