/** The result of one check of `petstore doctor`; `skipped` means that it could not be made or that there is nothing to check. */
export interface Finding {
  readonly check:
    | 'node'
    | 'declarations'
    | 'settings'
    | 'ports'
    | 'clock'
    | 'entities'
    | 'database'
    | 'rights'
    | 'integrity'
    | 'migrations'
    | 'disk'
    | 'processes'
    | 'redis';
  readonly state: 'well' | 'wrong' | 'skipped';
  /** The result in words and, if it is wrong, what to do. */
  readonly found: string;
}

/** What is as it has to be. */
export function well(check: Finding['check'], found: string): Finding {
  return { check, state: 'well', found };
}

/** What has to be put right. */
export function wrong(check: Finding['check'], found: string): Finding {
  return { check, state: 'wrong', found };
}

/** What an error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
