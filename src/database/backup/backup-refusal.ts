/** A backup or a restore cannot be done as it is asked for, and nothing was changed; the message says why and what to do. */
export class BackupRefusal extends Error {}
