/** How long the work for a client that is gone holds its place at most, in milliseconds: it may wait for what never comes. */
const MOST_ABANDONED_MS = 30_000;

/** How many requests are in flight. */
export interface Places {
  taken: number;
  /** Is told of each that is given back. */
  readonly rate: { note(): void };
}

/**
 * The place of one request among those in flight. It is held while the service works on the answer: from the end of the body
 * until the head of the response is sent. A client that sends its body slowly, or reads its answer slowly, holds none, nor does a
 * stream or an upgraded connection. When the client goes before, the place is held until the handler is done.
 */
export class Place {
  /** What the handler of the route has returned. */
  work: unknown;
  private isHeld = false;
  private isOver = false;

  constructor(private readonly places: Places) {}

  /** The whole request has arrived. */
  take(): void {
    if (this.isHeld || this.isOver) return;
    this.isHeld = true;
    this.places.taken += 1;
  }

  /** The head of the response is sent. */
  giveBack(): void {
    this.isOver = true;
    if (!this.isHeld) return;
    this.isHeld = false;
    this.places.taken -= 1;
    this.places.rate.note();
  }

  /** The connection is closed, of which the handler may not know. */
  abandon(): void {
    if (this.isOver || !this.isHeld || !(this.work instanceof Promise)) return this.giveBack();
    const timer = setTimeout(() => this.giveBack(), MOST_ABANDONED_MS);
    timer.unref();
    const end = (): void => {
      clearTimeout(timer);
      this.giveBack();
    };
    this.work.then(end, end);
    return undefined;
  }
}

/** A message of the service's own server, which tells the place of its request what becomes of it. */
interface Placed {
  place: Place | undefined;
}

/** The place of the request that a message belongs to; undefined when it has none. */
export function placeOf(message: object): Place | undefined {
  return (message as Partial<Placed>).place;
}

/** Has a message of the service's own server tell this place what becomes of it. */
export function setPlace(message: object, place: Place): void {
  (message as Placed).place = place;
}
