import { defineSettings, textUpTo } from 'petstore-service';

/** The settings of photos, whose variables start with `PHOTOS_`. */
export const PHOTOS_SETTINGS = defineSettings('photos', {
  folder: {
    type: textUpTo(1_000),
    default: 'data/photos',
    description:
      'Folder that stores the photos; created on first use. Back it up together with the database.',
  },
});
