import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isDeep } from '@ticketing/testkit/search-effort.ts';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

/** The commands that are programs of this repository. The others are those of tools, which explain themselves. */
const commands = Object.entries(scripts).flatMap(([name, command]) =>
  /tools\/cli\/run\.mjs/.test(command) ? [name] : [],
);
const quick = ['gate', 'accept', 'smoke', 'token', 'events', 'audit'];

async function outcome(name: string, arg: string) {
  const child = spawn(process.execPath, ['tools/cli/main.ts', name, arg], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, out, error };
}

// Each loads its program. All of them are tried in the part "searches".
test.each(commands.filter((name) => isDeep || quick.includes(name)))(
  'npm run %s explains itself with --help, and refuses an unknown option in a sentence',
  async (name) => {
    const help = await outcome(name, '--help');
    expect(help).toEqual({ code: 0, error: '', out: expect.stringMatching(/^[^\n]+/) });
    expect(help.out).toMatch(name === 'start' ? /npm start/ : new RegExp(`npm run (--silent )?${name}`));
    const refused = await outcome(name, '--no-such-option');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.error).toMatch(/^[^\n]*no-such-option[^\n]*\n$/);
  },
);

test('every command of package.json runs the program of its name, and has no hooks', () => {
  expect(commands).toEqual(expect.arrayContaining(quick));
  expect(commands.length).toBeGreaterThan(25);
  for (const name of commands) expect(scripts[name]).toMatch(new RegExp(`^node .*\\btools/cli/run\\.mjs ${name}$`));
  expect(Object.keys(scripts).filter((name) => /^(pre|post)/.test(name))).toEqual([]);
});
