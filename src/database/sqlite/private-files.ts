import { chmod, mkdir, open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Settings } from '../../core/config/settings.js';
import { shellWord } from '../../core/shell-word.js';

/** Mode of created files. Only the service's user has access, because the files contain hashes of keys and data of clients. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Permissions of the group and of all others. */
const GROUP_AND_OTHERS = 0o077;
/** Permissions of all but the group. */
const OTHERS = 0o007;
const GROUP_AND_OTHERS_WRITE = 0o022;
/** In a folder with this bit, such as /tmp, only the owner of a file can replace it. */
const STICKY = 0o1000;
/** Suffixes of SQLite's sidecar files, with the permissions of the database. SQLite applies them to any file with that name. */
export const SIDECARS = ['-wal', '-shm', '-journal'];
/** Suffix of the file that a server locks (ServerLock). Any user who may read it can lock it. */
export const LOCK_FILE = '-server';

/**
 * The path of a database file with all links resolved, next to which SQLite keeps its sidecar files. The file, or the target of a link, may
 * be missing. Throws ENOENT if the folder is missing.
 */
export async function realFileOf(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const target = await readlink(file).catch(() => undefined);
    if (target !== undefined) return realFileOf(resolve(dirname(file), target));
    return join(await realpath(dirname(file)), basename(file));
  }
}

/**
 * Creates an empty file, or the target of a link, that only the current user can access, whatever the umask. An existing file stays
 * unchanged. Throws the error of the file system.
 */
export async function createPrivateFile(file: string): Promise<void> {
  const created = await open(await realFileOf(file), 'wx', FILE_MODE).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return undefined;
      throw error;
    },
  );
  try {
    // The umask may have removed permissions of the user as well.
    await created?.chmod(FILE_MODE);
  } finally {
    await created?.close();
  }
}

/** Creates a folder and its missing parents for the current user only. Throws the error of the file system. */
export async function createPrivateFolder(folder: string): Promise<void> {
  if (await stat(folder).catch(() => undefined)) return;
  // Step by step, because Node's recursive mkdir() never returns below /proc.
  await createPrivateFolder(dirname(folder));
  try {
    await mkdir(folder, { mode: FOLDER_MODE });
    await chmod(folder, FOLDER_MODE);
  } catch (error) {
    // Another starting process may have created it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * A warning if other users can read or write the files of a database or replace files in its folder, with the commands that fix it;
 * undefined if not, and on Windows.
 */
export async function exposedFiles(file: string): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined;
  const real = await realFileOf(file).catch(() => file);
  const modes = await Promise.all(['', ...SIDECARS, LOCK_FILE].map((suffix) => modeOf(`${real}${suffix}`)));
  const areExposed = modes.some((mode) => (mode & GROUP_AND_OTHERS) !== 0);
  const folder = dirname(real);
  const folderMode = await modeOf(folder);
  const isExposedFolder = (folderMode & GROUP_AND_OTHERS_WRITE) !== 0 && (folderMode & STICKY) === 0;
  const commands = [
    // The names of sidecar files change, so they cannot be listed.
    ...(areExposed ? [`chmod 600 ${shellWord(real)}*`] : []),
    ...(isExposedFolder ? [`chmod go-w ${shellWord(folder)}`] : []),
  ];
  if (commands.length === 0) return undefined;
  const what = areExposed ? `read or write the files of ${file}` : `replace files in the folder of ${file}`;
  return `Other users of this machine can ${what}. Run: ${commands.join(' && ')}`;
}

/** In production, a warning if all users can access `.env`, with the command that fixes it; undefined if not, and on Windows. */
export async function exposedEnvFile({ nodeEnv }: Pick<Settings, 'nodeEnv'>): Promise<string | undefined> {
  if (process.platform === 'win32' || nodeEnv !== 'production') return undefined;
  if (((await modeOf('.env')) & OTHERS) === 0) return undefined;
  return 'All users of this machine can read or write .env, which may contain passwords. Run: chmod o= .env';
}

/** The mode of a file or folder; 0 if it does not exist. */
async function modeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.mode ?? 0;
}
