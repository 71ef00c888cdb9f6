import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, chown, cp, mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { validate } from 'dockerfile-utils';
import { parseAllDocuments, parseDocument } from 'yaml';
import { describe, expect, it, onTestFinished } from 'vitest';
import { INPUTS } from '../../scripts/build-if-stale.mjs';
import { Settings } from '../../src/core/config/settings.js';
import { freePort } from '../support/free-port.js';

import { postgresOfTest } from '../support/databases.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest, ran, ROOT, serviceOfTest } from '../support/service-process.js';

/** The user of the image. */
const IMAGE_USER = 1_000;

const deployed = (file: string): string => readFileSync(join(ROOT, 'deploy', file), 'utf8');
const yaml = (file: string): unknown => parseDocument(deployed(file), { merge: true }).toJS();
const DOCKERFILE = deployed('docker/Dockerfile');

/** Runs a program of the project. */
const run = (command: string, args: readonly string[], environment?: NodeJS.ProcessEnv) =>
  ran(ROOT, command, args, environment);

/** The JSON list behind an instruction of the image that runs, such as CMD. */
function commandOf(instruction: RegExp): string[] {
  const [, list = ''] = instruction.exec(DOCKERFILE.replaceAll('\\\n', '')) ?? [];
  return JSON.parse(list) as string[];
}

/** What `.dockerignore` lets into an image. */
const letIn = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1));

describe('the image', () => {
  it('has no instruction that Docker does not know', () => {
    expect(validate(DOCKERFILE)).toEqual([]);
  });

  it('is built of what .dockerignore lets in', () => {
    // Those who write migrations alone read this one.
    const needed = [
      ...INPUTS.filter((input) => input !== 'ormconfig.ts'),
      'scripts/build-if-stale.mjs',
      '.npmrc',
    ];
    const isLetIn = (path: string) => letIn.some((part) => path === part || path.startsWith(`${part}/`));
    expect(needed.filter((path) => !isLetIn(path))).toEqual([]);
    expect(letIn.filter((part) => !existsSync(join(ROOT, part)))).toEqual([]);
  });

  const cannot =
    spawnSync('unshare', ['--mount', 'setpriv', `--reuid=${IMAGE_USER}`, 'test', '-r', join(ROOT, 'dist')])
      .status === 0
      ? undefined
      : 'no file system can be mounted here, or others cannot read this folder';

  it.skipIf(cannot)(
    'runs as a user that is not root, on a file system that nothing can be written to but the data',
    async () => {
      const [image, data] = [await folderOfTest(), await folderOfTest()];
      const copied = [...DOCKERFILE.matchAll(/^COPY --from=build \/petstore\/(\S+) /gm)].map(
        ([, part = '']) => part,
      );
      expect(copied).toEqual(['package.json', 'bin', 'node_modules', 'dist']);
      for (const part of copied)
        if (part === 'node_modules') await symlink(join(ROOT, part), join(image, part));
        else await cp(join(ROOT, part), join(image, part), { recursive: true });
      await chmod(image, 0o755);
      await chown(data, IMAGE_USER, IMAGE_USER);
      const port = await freePort();
      const settings = Object.fromEntries(
        [...DOCKERFILE.matchAll(/^(?:ENV)? +([A-Z_]+)=(\S+)/gm)].map(([, name = '', value = '']) => [
          name,
          value,
        ]),
      );
      expect(settings).toMatchObject({
        NODE_ENV: 'production',
        DATABASE_URL: 'sqlite:/data/petstore.sqlite',
      });
      const child = spawn(
        'unshare',
        [
          '--mount',
          'sh',
          '-c',
          `mount -o remount,ro,bind / && mount --bind ${data} ${data} && mount -o remount,rw,bind ${data} && exec "$@"`,
          'sh',
          'setpriv',
          `--reuid=${IMAGE_USER}`,
          `--regid=${IMAGE_USER}`,
          '--clear-groups',
          '--no-new-privs',
          ...commandOf(/^CMD (\[.*\])$/m),
        ],
        {
          cwd: image,
          env: {
            PATH: process.env.PATH,
            ...settings,
            HOST: '127.0.0.1',
            PORT: String(port),
            MANAGEMENT_PORT: '0',
            DATABASE_URL: `sqlite:${data}/petstore.sqlite`,
          },
        },
      );
      onTestFinished(() => void child.kill('SIGKILL'));
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await expect.poll(() => output).toContain('Listening on');

      const healthcheck = commandOf(/^HEALTHCHECK .*CMD (\[.*\])$/m);
      const [command = '', ...args] = healthcheck;
      const check = async (onPort: number) => (await run(command, args, { PORT: String(onPort) })).code;
      expect(await check(port)).toBe(0);
      expect(await check(await freePort())).toBe(1);
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await exited).toEqual([0, null]);
    },
  );
});

describe('compose.yaml', () => {
  it('is what the Compose specification allows', async () => {
    const dclint = join(ROOT, 'node_modules/dclint/bin/dclint.cjs');
    const { code, stdout, stderr } = await run(process.execPath, [dclint, join(ROOT, 'deploy/docker')]);
    expect([code, stdout + stderr]).toEqual([0, expect.any(String)]);
  });

  it('sets what the service understands, and requires the password', () => {
    const { services } = yaml('docker/compose.yaml') as {
      services: Record<string, { environment: Record<string, string> }>;
    };
    const environment = services.petstore?.environment ?? {};
    const required = /\$\{POSTGRES_PASSWORD:\?[^}]+\}/;
    expect(environment.DATABASE_URL).toMatch(required);
    expect(environment.MAINTENANCE).toBe('${MAINTENANCE:-off}');
    const filled = Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(required, 'secret').replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'),
    ]);
    expect(faultsOf(Object.fromEntries(filled) as Record<string, string>)).toEqual([]);
  });
});

describe('the manifests for Kubernetes', () => {
  const FOLDER = 'kubernetes';
  const KINDS: Readonly<Record<string, string>> = {
    ConfigMap: 'core/v1',
    CronJob: 'batch/v1',
    Deployment: 'apps/v1',
    HorizontalPodAutoscaler: 'autoscaling/v2',
    Ingress: 'networking.k8s.io/v1',
    NetworkPolicy: 'networking.k8s.io/v1',
    PersistentVolumeClaim: 'core/v1',
    PodDisruptionBudget: 'policy/v1',
    Service: 'core/v1',
  };

  interface Manifest {
    readonly kind: string;
    readonly apiVersion: string;
    readonly spec: { readonly strategy?: object; readonly suspend?: boolean };
  }

  /** What `kubectl apply -k` applies. */
  const rendered = async (folder: string): Promise<Manifest[]> => {
    const { code, stdout, stderr } = await run('kubectl', ['kustomize', join(ROOT, 'deploy', folder)]);
    expect([code, stderr]).toEqual([0, '']);
    return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
  };

  /** The errors of these manifests, by the types of the API. */
  async function faultsByType(manifests: readonly Manifest[]): Promise<string> {
    const path = await folderOfTest();
    const sources = manifests.map((manifest, at) => {
      const { kind, apiVersion } = manifest;
      const types =
        [...Object.entries(KINDS), ['Job', 'batch/v1']].find(([known]) => known === kind)?.[1] ?? '';
      expect(types.replace('core/', '')).toBe(apiVersion);
      const file = join(path, `${at}.ts`);
      const from = join(ROOT, 'node_modules/kubernetes-types', types.replace('.k8s.io', ''));
      writeFileSync(
        file,
        `import type { ${kind} } from '${from}';\nexport const manifest: ${kind} = ${JSON.stringify(manifest)};\n`,
      );
      return file;
    });
    const options = '--noEmit --strict --skipLibCheck --ignoreConfig'.split(' ');
    const tsc = join(ROOT, 'node_modules/typescript-7/bin/tsc');
    return (await run(process.execPath, [tsc, ...options, ...sources])).stdout;
  }

  it('have the fields of the API, no others, with values of their types', async () => {
    // Of monitoring.yaml no types are published: it belongs to the Prometheus operator.
    const files = (await readdir(join(ROOT, 'deploy', FOLDER))).filter(
      (file) => !['kustomization.yaml', 'monitoring.yaml'].includes(file),
    );
    expect(files).toHaveLength(Object.keys(KINDS).length);
    const manifests = files.map((file) => yaml(`${FOLDER}/${file}`) as Manifest);
    expect(await faultsByType([...manifests, yaml('kubernetes-maintenance/restore.yaml') as Manifest])).toBe(
      '',
    );
  });

  it.skipIf(spawnSync('kubectl', ['version', '--client']).status !== 0)(
    'stop all pods for the maintenance mode, and no backup starts then',
    async () => {
      const manifests = (await rendered('kubernetes-maintenance')).filter(
        ({ kind }) => kind !== 'PodMonitor',
      );
      expect(await faultsByType(manifests)).toBe('');
      const specOf = (wanted: string) => manifests.find(({ kind }) => kind === wanted)?.spec;
      expect(specOf('Deployment')?.strategy).toEqual({ type: 'Recreate' });
      expect(specOf('CronJob')?.suspend).toBe(true);
      const { containers, initContainers } = (
        specOf('Deployment') as { template: { spec: Record<string, unknown[]> } }
      ).template.spec;
      expect(initContainers).toEqual([]);
      expect(containers).toMatchObject([
        {
          env: [{ name: 'MAINTENANCE', value: 'on' }],
          readinessProbe: { httpGet: { path: '/health/live', port: 'http' } },
        },
      ]);
      const usual = await rendered(FOLDER);
      expect(usual.map(({ kind }) => kind).toSorted()).toEqual(
        [...manifests.map(({ kind }) => kind), 'PodMonitor'].toSorted(),
      );
    },
  );

  it('are listed for `kubectl apply -k`, with one image for all containers', async () => {
    const { resources } = yaml(`${FOLDER}/kustomization.yaml`) as { resources: string[] };
    const files = await readdir(join(ROOT, 'deploy', FOLDER));
    expect(files.toSorted()).toEqual([...resources, 'kustomization.yaml'].toSorted());
    const images = files.flatMap((file) => [...deployed(`${FOLDER}/${file}`).matchAll(/image: (.+)/g)]);
    expect(images.map(([, image]) => image)).toEqual(['postgres:17-bookworm', 'petstore', 'petstore']);
  });

  it('set what the service understands', () => {
    const { data } = yaml(`${FOLDER}/settings.yaml`) as { data: Record<string, string> };
    expect(faultsOf(data)).toEqual([]);
    expect(faultsOf({ ...data, TRUST_PROXY: 'x', DATABASE: 'y' })).toHaveLength(2);
  });

  it('leave a stop the time that it may take', () => {
    const { spec } = (
      yaml(`${FOLDER}/deployment.yaml`) as {
        spec: {
          template: {
            spec: {
              terminationGracePeriodSeconds: number;
              containers: { lifecycle: { preStop: { exec: { command: string[] } } } }[];
            };
          };
        };
      }
    ).spec.template;
    const [, seconds] = spec.containers[0]?.lifecycle.preStop.exec.command ?? [];
    // docs/operations.md: SHUTDOWN_TIMEOUT_MS and some 3 s more.
    const stop = Number(seconds) + new Settings({}).shutdownTimeoutMs / 1_000 + 3;
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(stop);
  });
});

describe('the systemd units', () => {
  const UNIT = join(ROOT, 'deploy/systemd/petstore@.service');
  const BACKUP = join(ROOT, 'deploy/systemd/petstore-backup.service');
  const missing =
    spawnSync('systemd-analyze', ['--version']).status === 0 ? undefined : 'systemd is not installed';

  it.skipIf(missing)('has no error that systemd finds', async () => {
    const folder = join(ROOT, 'deploy/systemd');
    const units = (await readdir(folder)).filter((file) => /\.(?:service|timer)$/.test(file));
    const { code, stderr } = await run('systemd-analyze', [
      'verify',
      '--man=no',
      ...units.map((file) => join(folder, file)),
    ]);
    // Only what is installed elsewhere may be missing here.
    const faults = stderr
      .split('\n')
      .filter((line) => line !== '' && !/is not executable|Failed to open/.test(line));
    expect([code === 0 || stderr.includes('is not executable'), faults]).toEqual([true, []]);
  });

  it.skipIf(missing)('protects the machine from each program, as systemd judges it', async () => {
    const folder = await folderOfTest();
    const units = {
      'petstore@': 'petstore@3000',
      'petstore-backup': 'petstore-backup',
      'petstore-probe@': 'probe',
    };
    for (const [unit, name] of Object.entries(units)) {
      const file = join(folder, `${name}.service`);
      await cp(join(ROOT, `deploy/systemd/${unit}.service`), file);
      const { stdout } = await run('systemd-analyze', ['security', '--offline=true', '--threshold=20', file]);
      expect(Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]), unit).toBeLessThan(2);
    }
  });

  it('ends an instance that hangs, and none that starts, stops or is busy', async () => {
    const [, line = ''] =
      /^ExecStart=\/bin\/sh -c '(.+)'$/m.exec(deployed('systemd/petstore-probe@.service')) ?? [];
    const folder = await folderOfTest();
    const ended = join(folder, 'ended');
    await writeFile(join(folder, 'systemctl'), `#!/bin/sh\necho "$@" >${ended}\n`);
    await chmod(join(folder, 'systemctl'), 0o755);
    const probe = (port: number) => {
      const here = line
        .replaceAll('%i', String(port))
        .replaceAll('$$', '$')
        .replace('--max-time 5', '--max-time 1');
      return run('sh', ['-c', here], { PATH: `${folder}:${process.env.PATH}` });
    };
    const port = await freePort();
    expect(await probe(port)).toMatchObject({ code: 0, stdout: '' });
    const service = await serviceOfTest(folder, { PORT: String(port) });
    expect(await probe(port)).toMatchObject({ code: 0, stdout: '' });
    expect(existsSync(ended)).toBe(false);
    service.signal('SIGSTOP');
    expect(await probe(port)).toMatchObject({ code: 0, stdout: expect.stringContaining('hangs') as string });
    expect(readFileSync(ended, 'utf8')).toBe(`kill --signal=SIGKILL petstore@${port}.service\n`);
  });

  /** A machine without systemd that has one release, whose instances listen on these ports, and what switches to it. */
  async function releaseOn(ports: readonly number[]) {
    const folder = await folderOfTest();
    const [programs, release, units] = ['programs', 'petstore-1.1.0', 'units'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    await Promise.all(
      [programs, units, join(release, 'bin')].map((path) => mkdir(path, { recursive: true })),
    );
    await cp(join(ROOT, 'deploy'), join(release, 'deploy'), { recursive: true });
    const program = (path: string, lines: string) =>
      writeFile(path, `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
    const listed = ports.map((port) => `echo petstore@${port}.service loaded active running`).join('; ');
    const calls = join(folder, 'calls');
    await program(
      join(programs, 'systemctl'),
      `if [ "$1" = list-units ]; then ${listed}; else echo "$@" >>${calls}; fi`,
    );
    await program(join(programs, 'runuser'), 'shift 3; exec "$@"');
    await program(join(programs, 'sleep'), '');
    const migrates = (code: number) => program(join(release, 'bin/petstore.js'), `exit ${code}`);
    await migrates(0);
    const script = join(release, 'deploy/systemd/switch.sh');
    const here = deployed('systemd/switch.sh')
      .replaceAll('/var/lib/petstore', folder)
      .replaceAll('/opt/petstore"', `${folder}/current"`)
      .replaceAll(/\/opt\/petstore$/gm, `${folder}/current`)
      .replaceAll('/etc/systemd/system', units);
    await writeFile(script, here);
    const switched = () => run('sh', [script], { PATH: `${programs}:${process.env.PATH}` });
    const restarted = () => readFileSync(calls, 'utf8');
    return { folder, release, units, migrates, switched, restarted, calls };
  }

  it('are switched to another release one instance after the other, and not beyond one that is not ready', async () => {
    const [ready, silent, last] = [await freePort(), await freePort(), await freePort()];
    await serviceOfTest(await folderOfTest(), { PORT: String(ready) });
    const { folder, release, units, switched, restarted } = await releaseOn([ready, silent, last]);
    const dropIn = join(units, 'petstore-backup.service.d/postgresql.conf');
    await mkdir(join(dropIn, '..'));
    await writeFile(dropIn, 'of the release before');
    const { code, stdout, stderr } = await switched();
    expect([code, stdout]).toEqual([1, `petstore@${ready}.service is ready.\n`]);
    expect(stderr).toContain(`petstore@${silent}.service is not ready`);
    expect(restarted()).toBe(
      `daemon-reload\nrestart petstore@${ready}.service\nrestart petstore@${silent}.service\n`,
    );
    expect(await readlink(join(folder, 'current'))).toBe(release);
    expect(readFileSync(dropIn, 'utf8')).toBe(deployed('systemd/petstore-backup-postgresql.conf'));
    const installed = (await readdir(units)).filter((file) => !file.endsWith('.d'));
    const owned = (await readdir(join(ROOT, 'deploy/systemd'))).filter((file) =>
      /\.(?:service|timer)$/.test(file),
    );
    expect(installed.toSorted()).toEqual(owned.toSorted());
  });

  it('stay as they are where the release cannot work on the schema', async () => {
    const { folder, units, migrates, switched, calls } = await releaseOn([await freePort()]);
    await migrates(1);
    expect((await switched()).code).toBe(1);
    expect([await readdir(units), existsSync(join(folder, 'current')), existsSync(calls)]).toEqual([
      [],
      false,
      false,
    ]);
  });

  it('make a backup and show when, with the commands that systemd runs', async () => {
    const [folder, exporter] = [await folderOfTest(), await folderOfTest()];
    const unit = readFileSync(BACKUP, 'utf8');
    const lines = [...unit.matchAll(/^ExecStart(?:Post)?=\+?\/bin\/sh -c '(.+)'$/gm)].map(([, line = '']) =>
      line
        .replaceAll('%%', '%')
        .replace('/opt/petstore', ROOT)
        .replace('/var/lib/prometheus/node-exporter', exporter),
    );
    expect(lines).toHaveLength(2);
    const settings = { DATABASE_URL: 'sqlite:petstore.sqlite' };
    for (const line of [`${ROOT}/bin/petstore.js db migrate`, ...lines]) {
      const { code, stderr } = await run('sh', ['-c', `cd ${folder} && ${line}`], settings);
      expect([code, stderr]).toEqual([0, expect.any(String)]);
    }
    expect(await readdir(join(folder, 'backups'))).toEqual([
      expect.stringMatching(/^petstore-[1-7]\.sqlite$/),
    ]);
    const written = readFileSync(join(exporter, 'petstore.prom'), 'utf8');
    expect(
      Date.now() / 1_000 - Number(/^petstore_backup_timestamp_seconds (\d+)\n$/.exec(written)?.[1]),
    ).toBeLessThan(60);
  });

  it('starts what `npm start` starts', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: { start: string };
    };
    expect(readFileSync(UNIT, 'utf8')).toContain(
      `ExecStart=${scripts.start.replace('node ', 'node /opt/petstore/')}\n`,
    );
  });
});

describeWith('postgres', 'the schedules for PostgreSQL', () => {
  interface WithCommand {
    readonly args: readonly string[];
    readonly command: readonly string[];
  }
  /** The script of each, with the folder of its dumps, and without the wait for the next one. */
  const SCRIPTS: Readonly<Record<string, (folder: string) => string>> = {
    systemd: (folder) => {
      const [, line = ''] =
        /^ExecStart=\/bin\/sh -ec '(.+)'$/m.exec(deployed('systemd/petstore-backup-postgresql.conf')) ?? [];
      return `cd ${folder}/..; ${line.replaceAll('%%', '%').replaceAll('$$', '$')}`;
    },
    Compose: (folder) => {
      const { services } = yaml('docker/compose.yaml') as { services: Record<string, WithCommand> };
      const [script = ''] = services['backup']?.command ?? [];
      return script
        .replaceAll('$$', '$')
        .replace('/backups', folder)
        .replace('sleep 86400', 'exit 0')
        .replace('sleep 3600', 'exit 1');
    },
    Kubernetes: (folder) => {
      const manifest = yaml('kubernetes/backup.yaml') as {
        spec: { jobTemplate: { spec: { template: { spec: { containers: WithCommand[] } } } } };
      };
      const [container] = manifest.spec.jobTemplate.spec.template.spec.containers;
      return (container?.args[0] ?? '').replace('/backups', folder);
    },
  };

  it.each(Object.entries(SCRIPTS))(
    '%s: dumps the database, for each day of the week',
    async (_, scriptFor) => {
      const folder = join(await folderOfTest(), 'backups');
      await mkdir(folder);
      const url = await postgresOfTest();
      const { hostname, port, username, pathname } = new URL(url);
      const { code, stderr } = await run('bash', ['-euc', scriptFor(folder)], {
        DATABASE_URL: url,
        PGHOST: hostname,
        PGPORT: port,
        PGUSER: username,
        PGDATABASE: pathname.slice(1),
      });
      expect([code, stderr]).toEqual([0, '']);
      const files = await readdir(folder);
      expect(files.filter((file) => file !== 'metrics')).toEqual([
        expect.stringMatching(/^petstore-[1-7]\.dump$/),
      ]);
      if (files.includes('metrics'))
        expect(readFileSync(join(folder, 'metrics'), 'utf8')).toMatch(
          /^petstore_backup_timestamp_seconds \d+\n$/,
        );
    },
  );
});

/** What of these is no setting of the service, or no value that it takes. */
function faultsOf(environment: Readonly<Record<string, string>>): string[] {
  const example = readFileSync(join(ROOT, '.env.example'), 'utf8');
  const known = Object.keys(parseEnv(example.replaceAll(/^# (?=[A-Z_]+=)/gm, '')));
  const faults = Object.keys(environment).filter((name) => !known.includes(name));
  const read = () => new Settings(environment);
  try {
    read();
    return faults;
  } catch (error) {
    return [...faults, String(error)];
  }
}
