declare module 'pgpass' {
  /** The session to look up. */
  export interface SessionOfPassword {
    readonly host: string;
    readonly port: number;
    readonly database: string;
    readonly user: string;
  }

  /** Calls back with the password of the first matching line; undefined if none matches. */
  export default function find(session: SessionOfPassword, found: (password?: string) => void): void;
}
