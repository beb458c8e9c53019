import { createLogger } from '@ticketing/runtime/logger.ts';
import type { Sandbox } from '@ticketing/sandbox/sandbox.ts';
import { SandboxError, type SandboxReason } from '@ticketing/sandbox/sandbox-error.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { maxWordsTextLength, splitWords } from '@ticketing/text/words.ts';
import { describe, expect, test } from 'vitest';
import type { BodyFunctions } from './body.worker.ts';
import { bodyRules, bodyTexts, unconvertedTexts } from './rules/body-texts.ts';
import { openTextWork } from './work.ts';

const actor = { kind: 'user', profileId: 7 };
const long = '<td>x'.repeat(2000);

/** Work whose first runs end for some reasons, and the arguments of its runs. */
function openWith(...reasons: SandboxReason[]) {
  const runs: unknown[][] = [];
  const run = async (...args: unknown[]) => {
    runs.push(args);
    const reason = reasons.shift();
    if (reason) throw new SandboxError(reason, 'no result');
    return args[1] === 'bodyTexts' ? bodyTexts(args[2] as string) : splitWords(args[2] as string[]);
  };
  const sandbox = { run, close: async () => undefined } as unknown as Sandbox<BodyFunctions>;
  return { work: openTextWork(createLogger('tickets', 'silent'), {}, () => sandbox), runs };
}

describe('a run whose worker crashes', () => {
  test('is repeated once, and its result is used', async () => {
    const { work, runs } = openWith('crashed');
    expect(await work.bodyFields(long, actor)).toEqual({ ...bodyTexts(long), bodyRules });
    expect(runs).toHaveLength(2);
  });

  // guarantee: H3
  test('twice is an error, so that nothing is stored instead of the result', async () => {
    const { work, runs } = openWith('crashed', 'crashed');
    await expect(work.bodyFields(long, actor)).rejects.toMatchObject({
      code: 'unavailable',
      reason: 'sandbox_crashed',
      retryAfterSeconds: 5,
    });
    expect(runs).toHaveLength(2);
    expect((await work.bodyFields(long, actor)).bodyHtml).not.toBeNull();
  });

  test('makes words a second time too', async () => {
    const texts = ['wort '.repeat(40_000)];
    expect(await openWith('crashed').work.words(texts, actor)).toEqual(['wort']);
    await expect(openWith('crashed', 'crashed').work.words(texts, actor)).rejects.toThrow('Try again later');
  });
});

test.each(['time', 'memory', 'output', 'failed'] as const)(
  'a run that ends because of its text is not repeated, and the body is kept as it is: %s',
  async (reason) => {
    const { work, runs } = openWith(reason);
    expect(await work.bodyFields(long, actor)).toEqual({ ...unconvertedTexts(long), bodyRules });
    expect(runs).toHaveLength(1);
  },
);

test('a long mail whose text part takes too much work has the plain text', async () => {
  expect(await openWith().work.mailText('<p>a</p>', 'plain', actor)).toBe('a');
  expect(await openWith('time').work.mailText(long, 'plain', actor)).toBe('plain');
});

test('runs are those of their actor', async () => {
  const { work, runs } = openWith();
  await work.bodyFields(long, actor);
  await work.words(['wort '.repeat(40_000)], { kind: 'service', profileId: null });
  await work.bodyFields(long, serviceCaller('reporting'));
  expect(runs.map(([key]) => key)).toEqual(['user 7', 'service null', 'service reporting']);
});

test('only what is read of a text is sent for its words, or decides whether it is sent', async () => {
  const { work, runs } = openWith();
  const text = 'wort '.repeat(1_000_000);
  expect(await work.words([text], actor)).toEqual(splitWords([text]));
  expect(runs).toEqual([['user 7', 'splitWords', [text.slice(0, maxWordsTextLength)]]]);
});
