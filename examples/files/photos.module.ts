import { Module } from '@nestjs/common';
import { PetsModule } from 'petstore-service/pets';
import { PhotosController } from './photos.controller.js';
import { PhotosStore } from './photos.store.js';

/** Photos of animals. */
@Module({ imports: [PetsModule], controllers: [PhotosController], providers: [PhotosStore] })
export class PhotosModule {}
