import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { print, runScript } from './run-script.ts';

const { argv } = process;
let output = '';
const usage = 'Does something:\n\n  npm run something\n';
const options = { name: { type: 'string', default: 'Kim' }, often: { type: 'boolean', default: false } } as const;

class Exit extends Error {}

beforeEach(() => {
  output = '';
  const write = (text: unknown) => {
    output += String(text);
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(write);
  vi.spyOn(process.stderr, 'write').mockImplementation(write);
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Exit(String(code));
  });
});
afterEach(() => {
  process.argv = argv;
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** Runs a script that prints what it was given. Returns what it has printed, and its exit code if it has failed. */
async function run(args: string[], takesCommand = false): Promise<{ printed: string; code?: string }> {
  process.argv = ['node', 'script.ts', ...args];
  output = '';
  try {
    await runScript({ usage, options, takesCommand }, ({ name, often }, words) =>
      print([name, often, ...words].join(' ')),
    );
    return { printed: output };
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    return { printed: output, code: error.message };
  }
}

test('gives a script the values of its options, and its words', async () => {
  expect(await run([])).toEqual({ printed: 'Kim false\n' });
  expect(await run(['--name', 'Ada', '--often'])).toEqual({ printed: 'Ada true\n' });
  expect(await run(['do', '--often', 'it'], true)).toEqual({ printed: 'Kim true do it\n' });
});

test('prints the usage for --help, also among others, and if a command is missing', async () => {
  expect(await run(['--help'])).toEqual({ printed: usage });
  expect(await run(['do', '--unknown', '--help'], true)).toEqual({ printed: usage });
  expect(await run(['--often'], true)).toEqual({ printed: usage });
});

test('fails with one sentence that names --help for what it does not take', async () => {
  for (const args of [['--unknown'], ['word'], ['--name']]) {
    const { printed, code } = await run(args);
    expect([code, printed]).toEqual(['1', expect.stringMatching(/^.+\(--help lists [\w ]+\)\.?\n$/)]);
  }
});

test('fails with the message of an error, and does not run in production', async () => {
  process.argv = ['node', 'script.ts'];
  const failing = runScript({ usage, options }, async () => {
    throw new Error('The store is not there.');
  });
  await expect(failing).rejects.toThrow(Exit);
  expect(output).toBe('The store is not there.\n');
  vi.stubEnv('NODE_ENV', 'production');
  expect(await run([])).toMatchObject({ code: '1', printed: expect.stringContaining('for development only') });
});
