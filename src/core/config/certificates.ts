import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

const CERTIFICATE =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]+-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** The settings of a server's URL and its trusted certificates. */
export interface TrustSettings {
  readonly url: string;
  readonly ca: string;
}

/** The text of a file of certificates (PEM); throws an Error that names the setting when none can be read or trusted there. */
export function readCertificates(setting: string, path: string): string {
  const text = textOf(setting, path);
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0)
    throw new Error(
      `${setting}: ${path} holds no certificate (PEM). Name the file of the authority's certificate`,
    );
  const damaged = certificates.findIndex((certificate) => !isCertificate(certificate));
  if (damaged >= 0)
    throw new Error(`${setting}: ${path} cannot be used: certificate ${damaged + 1} in it is damaged`);
  return text;
}

/** The remedy for a certificate that is not trusted, in a sentence without its full stop; undefined for other errors. */
export function certificateRemedy(error: unknown, { url, ca }: TrustSettings): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = '' } = error as NodeJS.ErrnoException;
  const told = `${code} ${error.message}`;
  if (/SELF_SIGNED_CERT|UNABLE_TO_(?:GET|VERIFY)|CERT_SIGNATURE_FAILURE/.test(told))
    return `Set ${ca} to the file with the certificate of the authority that signed that of the server`;
  if (/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/.test(told))
    return 'Renew the certificate of the server, and check the clocks';
  return /ERR_TLS_CERT_ALTNAME_INVALID/.test(told)
    ? `Name the server in ${url} as its certificate does`
    : undefined;
}

function textOf(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${setting}: ${path} cannot be read (${(error as Error).message})`, { cause: error });
  }
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).subject !== undefined;
  } catch {
    return false;
  }
}
