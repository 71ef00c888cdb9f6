import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { emptyFolder } from './service-process.js';

const MEBIBYTE = 1_048_576;

/** Why a test cannot mount a separate disk on this machine; undefined if it can. */
export const NO_SMALL_DISK = mayMount() ? undefined : 'no file system may be mounted here';

/** Mounts a separate disk in a folder, with the given capacity in MiB and the given number of files and folders. */
export async function smallDisk(mebibytes = 8, files = 64): Promise<string> {
  const { path, remove } = await emptyFolder();
  expect(mount(path, mebibytes, files)).toBe(true);
  onTestFinished(async () => {
    spawnSync('umount', ['-l', path]);
    await remove();
  });
  return path;
}

/** Fills the disk to the last byte with a single file, `ballast`. */
export async function fill(path: string): Promise<void> {
  const ballast = await open(join(path, 'ballast'), 'w');
  try {
    for (const size of [MEBIBYTE, 4_096])
      for (;;) {
        const { bytesWritten } = await ballast
          .write(Buffer.alloc(size, 1))
          .catch(() => ({ bytesWritten: 0 }));
        if (bytesWritten < size) break;
      }
  } finally {
    await ballast.close();
  }
}

/** Creates files until no more can be created. Returns them. */
export async function fillWithFiles(path: string): Promise<string[]> {
  const made: string[] = [];
  for (;;) {
    const file = join(path, `ballast-${made.length}`);
    const isMade = await writeFile(file, '').then(
      () => true,
      () => false,
    );
    if (!isMade) return made;
    made.push(file);
  }
}

function mount(path: string, mebibytes: number, files: number): boolean {
  const size = `size=${mebibytes}m,nr_inodes=${files}`;
  return spawnSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', path]).status === 0;
}

function mayMount(): boolean {
  const path = mkdtempSync(join(tmpdir(), 'petstore-mount-'));
  const isAllowed = mount(path, 1, 8);
  if (isAllowed) spawnSync('umount', [path]);
  rmdirSync(path);
  return isAllowed;
}
