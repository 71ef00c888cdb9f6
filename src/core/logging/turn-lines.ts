import type { DestinationStream } from 'pino';

/** How much text is passed on before the turn has ended, in UTF-16 code units, so that a long turn buffers no more. */
const MAX_LENGTH = 65_536;

/**
 * Passes on all lines of a turn of the event loop at once. pino's stream measures everything that it has buffered at each write, which took
 * a tenth of the CPU time of a 429.
 */
export class TurnLines implements DestinationStream {
  private text = '';

  constructor(private readonly stream: DestinationStream) {}

  write(line: string): void {
    if (this.text === '') setImmediate(this.passOn);
    this.text += line;
    if (this.text.length >= MAX_LENGTH) this.passOn();
  }

  readonly passOn = (): void => {
    const { text } = this;
    this.text = '';
    if (text !== '') this.stream.write(text);
  };
}
