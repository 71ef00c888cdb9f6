import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, type IncomingMessage, request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { setTimeout as pause } from 'node:timers/promises';
import { makeCertificates } from './certificates.js';
import { freePort, listens } from './free-port.js';
import { ROOT } from './service-process.js';

/** Debian's nginx. */
export const NGINX = '/usr/sbin/nginx';

/** A response received through nginx. */
export interface NginxResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A real nginx with TLS for localhost, in a separate folder, which runs a configuration from deploy/nginx. */
export class Nginx {
  private constructor(
    readonly port: number,
    /** The certificate of the authority that signed the server's certificate. */
    private readonly authority: string,
    private readonly folder: string,
    private readonly child: ChildProcess,
  ) {}

  /**
   * Starts nginx with this site. `{tls}` is replaced with the folder of `server.crt` and `server.key`, and `{port}` with a free port. Stop
   * it when done.
   */
  static async start(site: string): Promise<Nginx> {
    const [port, folder] = [await freePort(), await makeCertificates()];
    // The worker runs as a different user, which needs write access to a folder for request bodies.
    await chmod(folder, 0o755);
    const http = site.replaceAll('{port}', String(port)).replaceAll('{tls}', folder);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const temporary = paths.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n');
    const main = `daemon off;\nworker_processes 1;\npid ${folder}/pid;\nerror_log ${folder}/error.log;\n`;
    const file = join(folder, 'nginx.conf');
    await writeFile(
      file,
      `${main}events { worker_connections 1024; }\nhttp {\naccess_log off;\n${temporary}\n${http}\n}\n`,
    );
    const child = spawn(NGINX, ['-e', `${folder}/error.log`, '-c', file], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let complaint = '';
    child.stderr?.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
    while (!(await listens(port))) {
      if (child.exitCode !== null)
        throw new Error(complaint || readFileSync(join(folder, 'error.log'), 'utf8'));
      await pause(20);
    }
    return new Nginx(port, readFileSync(join(folder, 'ca.crt'), 'utf8'), folder, child);
  }

  get url(): string {
    return `https://localhost:${this.port}`;
  }

  /** The error log. */
  get faults(): string {
    return readFileSync(join(this.folder, 'error.log'), 'utf8');
  }

  /** Sends a request through nginx on a separate connection. */
  requestRaw(
    path: string,
    {
      method = 'GET',
      headers = {},
      body = '',
    }: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<NginxResponse> {
    return new Promise((resolve, reject) => {
      const sent = request(
        this.url + path,
        { method, headers, ca: this.authority, agent: false },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.once('error', reject);
          response.once('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
          );
        },
      );
      sent.once('error', reject).end(body);
    });
  }

  /** Sends bytes on a separate connection, and returns the start of the response. The connection is then closed. */
  async send(bytes: string): Promise<NginxResponse> {
    const socket = connectTls({ port: this.port, host: 'localhost', ca: this.authority });
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const [, length] = /^content-length: (\d+)\r$/im.exec(text) ?? [];
      // nginx keeps the connection open to read the rest of the body.
      if (length !== undefined && text.split('\r\n\r\n')[1]?.length === Number(length)) socket.destroy();
    });
    socket.write(bytes);
    await once(socket, 'close');
    const [head = '', body = ''] = text.split('\r\n\r\n', 2);
    const [line = '', ...fields] = head.split('\r\n');
    const headers = fields.map((field): [string, string] => {
      const [name = '', ...value] = field.split(': ');
      return [name.toLowerCase(), value.join(': ')];
    });
    return { status: Number(line.split(' ')[1]), headers: Object.fromEntries(headers), body };
  }

  /** The redirect target for a request without TLS with this host name. */
  async sentTo(path: string, host: string): Promise<string | undefined> {
    const sent = plainRequest({ socketPath: join(this.folder, 'plain.sock'), path, headers: { host } }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response.headers.location;
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A file from deploy/nginx in which texts are replaced. All of them must occur in it. */
export function siteFrom(name: string, replacements: Readonly<Record<string, string>>): string {
  let text = readFileSync(join(ROOT, 'deploy/nginx', name), 'utf8');
  for (const [from, to] of Object.entries(replacements)) {
    if (!text.includes(from)) throw new Error(`${name} has no ${from}.`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** The site for a separate host name with these instances. It differs from the file only in names and addresses. */
export function ownSite(urls: readonly string[]): string {
  return siteFrom('petstore.conf', {
    '    server 127.0.0.1:3000 max_fails=1 fail_timeout=10s;': urls
      .map((url) => `    server ${new URL(url).host} max_fails=1 fail_timeout=10s;`)
      .join('\n'),
    'listen 80;': 'listen unix:{tls}/plain.sock;',
    '    listen [::]:80;\n': '',
    'listen 443 ssl;': 'listen 127.0.0.1:{port} ssl http2;',
    '    listen [::]:443 ssl;\n': '',
    // Debian's nginx is too old for this directive.
    '    http2 on;\n': '',
    'petstore.example': 'localhost',
    '/etc/letsencrypt/live/localhost/fullchain.pem': '{tls}/server.crt',
    '/etc/letsencrypt/live/localhost/privkey.pem': '{tls}/server.key',
  });
}

/** The proxy configuration from deploy/docker for these instances, with TLS, and without Docker's DNS server. */
export function composeSite(urls: readonly string[]): string {
  return siteFrom('../docker/proxy.conf', {
    'resolver 127.0.0.11 valid=2s;': '',
    'listen 9102;': 'listen unix:{tls}/backups.sock;',
    'alias /backups/metrics;': 'alias {tls}/metrics;',
    '    server petstore:3000 resolve max_fails=1 fail_timeout=10s;': urls
      .map((url) => `    server ${new URL(url).host} max_fails=1 fail_timeout=10s;`)
      .join('\n'),
    'listen 80;':
      'listen 127.0.0.1:{port} ssl;\nssl_certificate {tls}/server.crt;\nssl_certificate_key {tls}/server.key;',
  });
}
