import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

/** A shell that runs one piece of code after another, and keeps variables between them. */
export interface Shell {
  /** Runs code. Returns what it has printed, and the exit code of the last command that failed; else 0. */
  run(code: string): Promise<{ output: string; code: number }>;
  end(): Promise<void>;
}

const codeMs = 60_000;

/** Starts bash in a folder. */
export function startShell(cwd: string, environment: Readonly<Record<string, string>>): Shell {
  const child = spawn('bash', ['-s'], {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  let notify = () => {};
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    output += part;
    notify();
  });
  child.once('exit', () => notify());
  child.stdin.write("set -o pipefail -o errtrace\ntrap 'failed=$?' ERR\n");

  return {
    async run(code) {
      const mark = randomUUID();
      output = '';
      child.stdin.write(`failed=\n${code}\nprintf '\\n%s %s\\n' ${mark} "\${failed:-0}"\n`);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`It takes more than ${codeMs / 1000} s: ${code}`)), codeMs);
      });
      try {
        for (;;) {
          const found = new RegExp(`\\n${mark} (\\d+)\\n`).exec(output);
          if (found) return { output: output.slice(0, found.index), code: Number(found[1]) };
          if (child.exitCode !== null) return { output, code: child.exitCode || 1 };
          const more = new Promise<void>((resolve) => {
            notify = resolve;
          });
          await Promise.race([more, late]);
        }
      } finally {
        clearTimeout(timer);
      }
    },
    async end() {
      if (child.exitCode !== null) return;
      child.stdin.end('exit\n');
      await once(child, 'exit');
    },
  };
}
