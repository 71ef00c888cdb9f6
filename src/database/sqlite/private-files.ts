import { chmod, mkdir, open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Settings } from '../../core/config/settings.js';
import { shellWord } from '../../core/shell-word.js';

/** Permissions of files that the service creates: they contain hashes of keys and client data, so only its user has access. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Permissions of the group and of all others. */
const GROUP_AND_OTHERS = 0o077;
/** Permissions of all but the group. */
const OTHERS = 0o007;
const GROUP_AND_OTHERS_WRITE = 0o022;
/** In such a folder, as /tmp is, a file can be replaced by its owner alone. */
const STICKY = 0o1000;
/** Files that SQLite keeps beside a database, with its permissions. It reads them as parts of whatever file has that name. */
export const SIDECARS = ['-wal', '-shm', '-journal'];
/** The file beside a database that its server locks (ServerLock): a user who may read it can lock it, too. */
export const LOCK_FILE = '-server';

/**
 * The path of a database file with all links resolved: SQLite has `-wal`, `-shm` and `-journal` beside it. The file may be missing, even
 * as the target of a link. Throws ENOENT when its folder is missing.
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
 * Makes an empty file that the user of this process alone may read and write, whatever its umask; for a link, what it leads to. A file
 * that is there stays as it is. Throws the error of the file system.
 */
export async function makePrivateFile(file: string): Promise<void> {
  const created = await open(await realFileOf(file), 'wx', FILE_MODE).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return undefined;
      throw error;
    },
  );
  try {
    // A umask may have removed permissions of the user, too.
    await created?.chmod(FILE_MODE);
  } finally {
    await created?.close();
  }
}

/** Makes a folder, and those around it that are missing, for the user of this process alone. Throws the error of the file system. */
export async function makePrivateFolder(folder: string): Promise<void> {
  if (await stat(folder).catch(() => undefined)) return;
  // One after the other: Node's own recursive mkdir() never ends below /proc.
  await makePrivateFolder(dirname(folder));
  try {
    await mkdir(folder, { mode: FOLDER_MODE });
    await chmod(folder, FOLDER_MODE);
  } catch (error) {
    // Another process that starts at the same time may have made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Which files of a database other users of the machine may read or write, and whether they may replace files in its folder, with the
 * commands that fix it; undefined when only its user may, and on Windows, whose permissions differ.
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
    // The files beside the database change, so their names cannot be listed.
    ...(areExposed ? [`chmod 600 ${shellWord(real)}*`] : []),
    ...(isExposedFolder ? [`chmod go-w ${shellWord(folder)}`] : []),
  ];
  if (commands.length === 0) return undefined;
  const what = areExposed ? `read or write the files of ${file}` : `replace files in the folder of ${file}`;
  return `Other users of this machine may ${what}. Run: ${commands.join(' && ')}`;
}

/**
 * In production, whether every user of the machine may read `.env`, which has secrets, with the command that fixes it; undefined if not,
 * and on Windows.
 */
export async function exposedEnvFile({ nodeEnv }: Pick<Settings, 'nodeEnv'>): Promise<string | undefined> {
  if (process.platform === 'win32' || nodeEnv !== 'production') return undefined;
  if (((await modeOf('.env')) & OTHERS) === 0) return undefined;
  return 'All users of this machine may read or write .env, which may have passwords. Run: chmod o= .env';
}

/** The permissions of a file or folder; none if it does not exist. */
async function modeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.mode ?? 0;
}
