import { defineSettings, textUpTo } from 'petstore-service';

/** The settings of photos, which begin with `PHOTOS_`. */
export const PHOTOS_SETTINGS = defineSettings('photos', {
  folder: {
    type: textUpTo(1_000),
    default: 'data/photos',
    description: 'Where photos are kept; made on first use. Back it up with the database.',
  },
});
