/** JSON that is answered as it stands, because the database has written it. */
export class JsonText {
  constructor(readonly text: string) {}
}
