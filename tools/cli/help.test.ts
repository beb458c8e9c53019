import { expect, test } from 'vitest';
import { commands, expectHelp, scripts } from './command-help.ts';

const quick = ['gate', 'accept', 'smoke', 'token', 'import', 'build', 'webhook:listen'];

test.each(quick)('npm run %s explains itself with --help, and refuses an unknown option in a sentence', expectHelp);

test('every command of package.json runs the program of its name, and has no hooks', () => {
  expect(commands).toEqual(expect.arrayContaining(quick));
  expect(commands.length).toBeGreaterThan(25);
  for (const name of commands) expect(scripts[name]).toMatch(new RegExp(`^node .*\\btools/cli/run\\.mjs ${name}$`));
  expect(Object.keys(scripts).filter((name) => /^(pre|post)/.test(name))).toEqual([]);
});
