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
const commands = Object.entries(scripts).flatMap(([name, command]) => {
  const [, file] = /^node (\S+\.ts)$/.exec(command) ?? [];
  return file === undefined ? [] : [{ name, file }];
});
const quick = ['build', 'check', 'generate', 'docs:check', 'charts', 'test:containers', 'events', 'audit'];

async function outcome(file: string, arg: string) {
  const child = spawn(process.execPath, [file, arg], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, out, error };
}

// Each loads its program. All of them are tried in the deep suite.
test.each(commands.filter(({ name }) => isDeep || quick.includes(name)))(
  'npm run $name explains itself with --help, and refuses an unknown option in a sentence',
  async ({ name, file }) => {
    const help = await outcome(file, '--help');
    expect(help).toEqual({ code: 0, error: '', out: expect.stringMatching(/^[^\n]+/) });
    expect(help.out).toMatch(name === 'start' ? /npm start/ : new RegExp(`npm run (--silent )?${name}`));
    // The arguments of the container tests are those of vitest.
    if (name === 'test:containers') return;
    const refused = await outcome(file, '--no-such-option');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.error).toMatch(/^[^\n]*no-such-option[^\n]*\n$/);
  },
);

test('all commands are known', () => {
  const names = commands.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(quick));
  expect(names.length).toBeGreaterThan(25);
});
