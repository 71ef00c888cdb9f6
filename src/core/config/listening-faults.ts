/** Where a server was to listen. */
export interface Place {
  /** The setting of its port. */
  readonly variable: 'PORT' | 'MANAGEMENT_PORT';
  readonly port: number | null;
  readonly host: string;
}

/** An error in place of the one that Node gives when a server cannot listen: one sentence with what to set. */
export function listeningFault({ variable, port, host }: Place, error: NodeJS.ErrnoException): Error {
  switch (error.code ?? '') {
    case 'EADDRINUSE':
      return told(`${variable}: port ${port} is in use; set ${variable} to a free one.`);
    case 'EACCES':
      return told(
        `${variable}: this user may not listen on port ${port}; set ${variable} to one above 1023, such as ${(port ?? 0) + 8000}.`,
      );
    case 'EADDRNOTAVAIL':
      return told(
        `HOST: ${host} is no address of this machine; set HOST to one, to 127.0.0.1, or to 0.0.0.0 for all.`,
      );
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return told(
        `HOST: no address is known of ${host}; set HOST to an address of this machine, to 127.0.0.1, or to 0.0.0.0 for all.`,
      );
    default:
      return error;
  }
  function told(text: string): Error {
    return new Error(text, { cause: error });
  }
}
