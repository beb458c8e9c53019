import { expect, test, vi } from 'vitest';
import { declareCommand, readNumber, readUrl, readWord } from './command.ts';

const usage = 'Does something:\n\n  npm run something\n';
const options = { name: { type: 'string', default: 'Kim' }, often: { type: 'boolean', default: false } } as const;

/** Runs a command that prints its options and words. Returns its exit code, and the lines that it has printed. */
async function run(args: string[], words?: 'some' | 'any') {
  const [printed, errors]: [string[], string[]] = [[], []];
  const streams = {
    env: {},
    print: (line: string) => printed.push(line),
    printError: (line: string) => errors.push(line),
  };
  const command = declareCommand({ usage, options, ...(words && { words }) }, ({ name, often }, all, { print }) => {
    if (name === 'nobody') throw new Error('There is nobody.');
    print([name, often, ...all].join(' '));
    return name === 'Ada' ? 2 : undefined;
  });
  return { code: await command(args, streams), printed, errors };
}

test('gives a command the values of its options, and its words; its exit code is 0, or what it returns', async () => {
  expect(await run([])).toEqual({ code: 0, printed: ['Kim false'], errors: [] });
  expect(await run(['--name', 'Ada', '--often'])).toEqual({ code: 2, printed: ['Ada true'], errors: [] });
  expect(await run(['do', '--often', 'it'], 'some')).toMatchObject({ printed: ['Kim true do it'] });
});

test('prints the usage for --help, also among others, and if a word is missing', async () => {
  const help = { code: 0, printed: [usage.trimEnd()], errors: [] };
  for (const args of [['--help'], ['-h'], ['do', '--unknown', '--help'], ['--often']]) {
    expect(await run(args, 'some')).toEqual(help);
  }
});

test('fails with one sentence that names --help for what it does not take', async () => {
  for (const args of [['--unknown'], ['word'], ['--name']]) {
    const { code, printed, errors } = await run(args);
    expect([code, printed, errors]).toEqual([1, [], [expect.stringMatching(/^[^.\n]+\(--help lists [\w ]+\)\.$/)]]);
  }
});

test('fails with the message of an error, and does not run in production', async () => {
  expect(await run(['--name', 'nobody'])).toEqual({ code: 1, printed: [], errors: ['There is nobody.'] });
  vi.stubEnv('NODE_ENV', 'production');
  expect(await run([])).toMatchObject({ code: 1, errors: [expect.stringContaining('for development only')] });
});

test('refuses values of options in a sentence that says what each takes', () => {
  expect(readNumber('kills', '7', { to: 9 })).toBe(7);
  for (const text of ['many', '0', '10', '1.5', '']) {
    expect(() => readNumber('kills', text, { to: 9 })).toThrow(
      `--kills takes a whole number from 1 to 9, not "${text}".`,
    );
  }
  expect(() => readWord('type', 'other', ['faq', 'news'])).toThrow('--type takes faq, news, not "other".');
  expect(() => readUrl('ftp://127.0.0.1')).toThrow('--url takes an address such as');
});
