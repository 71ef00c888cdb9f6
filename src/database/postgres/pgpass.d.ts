declare module 'pgpass' {
  /** The session that a line of the file is for. */
  export interface SessionOfPassword {
    readonly host: string;
    readonly port: number;
    readonly database: string;
    readonly user: string;
  }

  /** Calls back with the password of the first line that matches; undefined without one. */
  export default function find(session: SessionOfPassword, found: (password?: string) => void): void;
}
