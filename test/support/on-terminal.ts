import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { vi } from 'vitest';
import { BARE_ENVIRONMENT, SERVICE } from './service-process.js';

/** A command on a pseudo-terminal, as in an interactive session. `script` from util-linux creates the terminal. */
export class OnTerminal {
  /** The output so far: standard output and standard error together, and the echo of the input. */
  screen = '';
  private readonly ended: Promise<unknown[]>;

  private constructor(private readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk: Buffer) => (this.screen += chunk.toString()));
    this.ended = once(child, 'close');
  }

  /** Runs petstore in a folder with arguments in shell syntax, such as `client list > out.txt`. */
  static petstore(
    folder: string,
    call: string,
    environment: NodeJS.ProcessEnv = {},
    columns = 80,
  ): OnTerminal {
    const program = `'${process.execPath}' '${join(SERVICE, 'bin/petstore.js')}'`;
    // Replaces the shell, which Ctrl-C would also terminate.
    return OnTerminal.run(folder, `exec ${program} ${call}`, environment, columns);
  }

  /** Runs a shell command in a folder; `columns` is the width of the terminal. */
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

  /** Waits until the output contains a text, and returns the output. */
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

  /** Waits for the command to end and returns its exit code, which is 128 plus the signal number after a signal. */
  async end(): Promise<number> {
    const [code] = await this.ended;
    return Number(code);
  }

  /** Kills the command. */
  kill(): void {
    this.child.kill('SIGKILL');
  }
}

function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
