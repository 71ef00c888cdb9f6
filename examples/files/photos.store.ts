import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Response } from 'express';
import { ApiError, Clock, Settings, entityTag } from 'petstore-service';
import { PHOTOS_ERRORS } from './photos.errors.js';
import { PHOTOS_SETTINGS } from './photos.settings.js';

/** Suffix of the file of an incomplete upload. */
const PART = '.part';
/**
 * Age from which an incomplete file counts as left behind by a process that died, in milliseconds. No upload takes this long, because
 * REQUEST_TIMEOUT_MS is at most ten minutes.
 */
const ABANDONED_MS = 3_600_000;

/** Stores photos, one file per animal. */
@Injectable()
export class PhotosStore implements OnModuleInit {
  private readonly folder: string;

  constructor(
    settings: Settings,
    private readonly clock: Clock,
  ) {
    this.folder = resolve(settings.of(PHOTOS_SETTINGS).folder);
  }

  /** Removes incomplete uploads of processes that died, but not recent ones, which may belong to another running process. */
  async onModuleInit(): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    for (const name of await readdir(this.folder)) {
      const path = join(this.folder, name);
      if (name.endsWith(PART) && (await stat(path)).mtimeMs < this.clock.now() - ABANDONED_MS)
        await rm(path, { force: true });
    }
  }

  /** Stores a photo once it is completely on disk, so that readers see either the old or the new photo. Rejects if the source fails. */
  async keep(petId: bigint, source: Readable): Promise<void> {
    const part = join(this.folder, `${petId}.${randomUUID()}${PART}`);
    try {
      await pipeline(source, createWriteStream(part, { flush: true }));
      await rename(part, this.pathOf(petId));
    } finally {
      await rm(part, { force: true });
    }
  }

  /** Sends a photo. Express handles ranges and conditional requests. Throws photo_not_found. */
  async send(petId: bigint, response: Response): Promise<void> {
    const { ino, mtimeNs, size } = await stat(this.pathOf(petId), { bigint: true }).catch(
      (error: unknown) => {
        throw isMissing(error) ? photoNotFound(petId) : error;
      },
    );
    response.setHeader('ETag', entityTag(`${ino} ${mtimeNs} ${size}`));
    response.setHeader('Cache-Control', 'private, no-cache');
    const options = { root: this.folder, cacheControl: false, lastModified: false };
    // If the client disconnects or the disk fails after the head was sent, Express can only close the connection.
    await new Promise<void>((sent, failed) => {
      response.sendFile(`${petId}.png`, options, (error: Error | undefined) => {
        if (error === undefined || response.headersSent) sent();
        else failed(isMissing(error) ? photoNotFound(petId) : error);
      });
    });
  }

  /** Deletes a photo. Succeeds if there is none. */
  delete(petId: bigint): Promise<void> {
    return rm(this.pathOf(petId), { force: true });
  }

  private pathOf(petId: bigint): string {
    return join(this.folder, `${petId}.png`);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function photoNotFound(petId: bigint): ApiError {
  return new ApiError(PHOTOS_ERRORS.photo_not_found, { params: { petId: String(petId) } });
}
