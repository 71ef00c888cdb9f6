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

/** What of an upload is on disk has this ending until all of it is. */
const PART = '.part';
/** No upload takes so long, in milliseconds (REQUEST_TIMEOUT_MS is at most ten minutes): a part this old is of a process that died. */
const ABANDONED_MS = 3_600_000;

/** The photos, one file for each animal. */
@Injectable()
export class PhotosStore implements OnModuleInit {
  private readonly folder: string;

  constructor(
    settings: Settings,
    private readonly clock: Clock,
  ) {
    this.folder = resolve(settings.of(PHOTOS_SETTINGS).folder);
  }

  /** Removes what a process that died has left of its uploads; another may be at work in the same folder. */
  async onModuleInit(): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    for (const name of await readdir(this.folder)) {
      const path = join(this.folder, name);
      if (name.endsWith(PART) && (await stat(path)).mtimeMs < this.clock.now() - ABANDONED_MS)
        await rm(path, { force: true });
    }
  }

  /** Keeps a photo once all of it is on disk: readers see the old one or the new one. Rejects when the source fails. */
  async keep(petId: bigint, source: Readable): Promise<void> {
    const part = join(this.folder, `${petId}.${randomUUID()}${PART}`);
    try {
      await pipeline(source, createWriteStream(part, { flush: true }));
      await rename(part, this.pathOf(petId));
    } finally {
      await rm(part, { force: true });
    }
  }

  /** Sends a photo: Express answers ranges and conditional requests. Throws photo_not_found. */
  async send(petId: bigint, response: Response): Promise<void> {
    const { ino, mtimeNs, size } = await stat(this.pathOf(petId), { bigint: true }).catch(
      (error: unknown) => {
        throw isMissing(error) ? photoNotFound(petId) : error;
      },
    );
    response.setHeader('ETag', entityTag(`${ino} ${mtimeNs} ${size}`));
    response.setHeader('Cache-Control', 'private, no-cache');
    const options = { root: this.folder, cacheControl: false, lastModified: false };
    // Once the head is sent, a client that goes away, or a disk that fails, can only cut the connection: Express does.
    await new Promise<void>((sent, failed) => {
      response.sendFile(`${petId}.png`, options, (error: Error | undefined) => {
        if (error === undefined || response.headersSent) sent();
        else failed(isMissing(error) ? photoNotFound(petId) : error);
      });
    });
  }

  /** Deletes a photo; one that is gone is deleted. */
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
