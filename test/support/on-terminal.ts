import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { vi } from 'vitest';
import { BARE_ENVIRONMENT, SERVICE } from './service-process.js';

/** A command on a pseudo-terminal, which `script` of util-linux makes, as a person has it. */
export class OnTerminal {
  /** What stood on the screen so far: standard output and standard error together, and the echo of what was typed. */
  screen = '';
  private readonly ended: Promise<unknown[]>;

  private constructor(private readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk: Buffer) => (this.screen += chunk.toString()));
    this.ended = once(child, 'close');
  }

  /** Calls petstore in a folder with words of a shell's command line, such as `client list > out.txt`. */
  static petstore(
    folder: string,
    call: string,
    environment: NodeJS.ProcessEnv = {},
    columns = 80,
  ): OnTerminal {
    const program = `'${process.execPath}' '${join(SERVICE, 'bin/petstore.js')}'`;
    // In place of the shell, which Ctrl-C would end as well.
    return OnTerminal.run(folder, `exec ${program} ${call}`, environment, columns);
  }

  /** Runs a shell's command line in a folder; `columns` is how wide the terminal is. */
  static run(folder: string, line: string, environment: NodeJS.ProcessEnv = {}, columns = 80): OnTerminal {
    const whole = `stty cols ${columns} rows 24; ${line}`;
    return new OnTerminal(
      spawn('script', ['--quiet', '--return', '--command', whole, '/dev/null'], {
        cwd: folder,
        env: { ...BARE_ENVIRONMENT, TERM: 'xterm', SHELL: '/bin/sh', ...environment },
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
  }

  /** Waits until the screen has a text, and returns it. */
  async shows(text: string | RegExp): Promise<RegExpExecArray> {
    const wanted = typeof text === 'string' ? new RegExp(literally(text)) : text;
    return vi.waitFor(
      () => {
        const found = wanted.exec(this.screen);
        if (!found) throw new Error(`The screen has no ${text}:\n${this.screen}`);
        return found;
      },
      { timeout: 240_000, interval: 20 },
    );
  }

  /** Types keys, such as `yes\r`, or `\u0003` for Ctrl-C. */
  type(keys: string): void {
    this.child.stdin?.write(keys);
  }

  /** The exit code, 128 and more for a signal, once the command has ended. */
  async end(): Promise<number> {
    const [code] = await this.ended;
    return Number(code);
  }

  /** Ends it immediately. */
  kill(): void {
    this.child.kill('SIGKILL');
  }
}

function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
