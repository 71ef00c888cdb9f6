type Place = readonly [begin: string, end: string];

/** The settings in docs/operations.md. */
export const SETTINGS_PLACE: Place;

/** The events in docs/webhooks.md. */
export const EVENTS_PLACE: Place;

/** A page with what is generated. Throws when the comments around it are missing. */
export function withGenerated(page: string, place: Place, text: string): string;
