/** One fault of a value that the client sent (the `details` of a 400). */
export interface FaultDetail {
  /** Name of the field or parameter; empty when the body as a whole is at fault. */
  readonly field: string;
  /** Lower_snake slug of the rule that was broken. */
  readonly code: string;
  /** What is allowed. */
  readonly message: string;
}

/** Most entries of `details`; where there are more faults, the last one tells how many are left out. */
export const MOST_DETAILS = 20;
/** Longest name of a field and longest text that is repeated to the client, in UTF-16 code units. */
const LONGEST_FIELD = 100;
const LONGEST_TEXT = 500;

/** What of all faults is sent: so much that a person can read it, however many were made. */
export function shownFaults(faults: readonly FaultDetail[]): FaultDetail[] {
  const shown = faults.length > MOST_DETAILS ? faults.slice(0, MOST_DETAILS - 1) : faults;
  const details = shown.map(({ field, code, message }) => ({
    field: shortened(field, LONGEST_FIELD),
    code,
    message: shortened(message),
  }));
  const left = faults.length - details.length;
  if (left > 0) details.push({ field: '', code: 'more_faults', message: `There are ${left} more faults.` });
  return details;
}

/** A text of the client’s as it is repeated to them: with an ellipsis in place of what is too long. */
export function shortened(text: string, longest = LONGEST_TEXT): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
