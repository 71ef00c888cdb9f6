import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

const CERTIFICATE =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]+-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** The settings of a server's URL and its trusted certificates. */
export interface TrustSettings {
  readonly url: string;
  readonly ca: string;
}

/** The text of a file of certificates (PEM). Throws an Error that names the setting if none can be read or trusted. */
export function readCertificates(setting: string, path: string): string {
  const text = textOf(setting, path);
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0)
    throw new Error(
      `${setting}: ${path} contains no certificate (PEM). Set it to the file with the CA certificate`,
    );
  const damaged = certificates.findIndex((certificate) => !isCertificate(certificate));
  if (damaged >= 0)
    throw new Error(`${setting}: ${path} cannot be used: its certificate ${damaged + 1} is corrupted`);
  return text;
}

/** The remedy for an untrusted certificate, as a sentence without its period; undefined for other errors. */
export function certificateRemedy(error: unknown, { url, ca }: TrustSettings): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = '' } = error as NodeJS.ErrnoException;
  const reported = `${code} ${error.message}`;
  if (/SELF_SIGNED_CERT|UNABLE_TO_(?:GET|VERIFY)|CERT_SIGNATURE_FAILURE/.test(reported))
    return `Set ${ca} to the file with the certificate of the CA that signed the server's certificate`;
  if (/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/.test(reported))
    return 'Renew the server’s certificate, and check the clocks of both machines';
  return /ERR_TLS_CERT_ALTNAME_INVALID/.test(reported)
    ? `In ${url}, use a host name that the server's certificate contains`
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
