import { defineSettings, wholeNumber } from 'petstore-service';

/** The settings of adoptions, whose variables start with `ADOPTIONS_`. */
export const ADOPTIONS_SETTINGS = defineSettings('adoptions', {
  reservationMs: {
    type: wholeNumber(60_000, 2_592_000_000),
    default: 259_200_000,
    description:
      'How long an animal stays reserved for an undecided adoption, in milliseconds; three days by default.',
  },
});
