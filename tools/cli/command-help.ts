import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { outcome } from './started-programs.ts';

const root = join(import.meta.dirname, '..', '..');
export const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** The commands that are programs of this repository. The others are those of tools, which explain themselves. */
export const commands = Object.entries(scripts).flatMap(([name, command]) =>
  /tools\/cli\/run\.mjs/.test(command) ? [name] : [],
);

/** Expects that a command explains itself with --help, and refuses an unknown option in a sentence. */
export async function expectHelp(name: string): Promise<void> {
  const run = (arg: string) =>
    outcome(
      spawn(process.execPath, ['tools/cli/main.ts', name, arg], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] }),
    );
  const help = await run('--help');
  expect(help).toEqual({ code: 0, error: '', out: expect.stringMatching(/^[^\n]+/) });
  expect(help.out).toMatch(name === 'start' ? /npm start/ : new RegExp(`npm run (--silent )?${name}`));
  const refused = await run('--no-such-option');
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.error).toMatch(/^[^\n]*no-such-option[^\n]*\n$/);
}
