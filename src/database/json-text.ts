import { parse } from 'lossless-json';

/** JSON that is answered as it stands, because the database has written it. */
export class JsonText {
  constructor(readonly text: string) {}

  /** The value, with every number exact, for whoever puts it into something larger. */
  toJSON(): unknown {
    return parse(this.text);
  }
}
