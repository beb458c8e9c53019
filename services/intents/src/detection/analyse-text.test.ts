import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import { expect, test } from 'vitest';
import { syntheticTickets, tagIds, toExamples } from '../../test/synthetic-tickets.ts';
import { emptyModel } from '../learning/model.ts';
import { train } from '../learning/train.ts';
import { analyse } from './analyse-text.ts';
import { maxSummaryChars } from './summary.ts';

const model = train(toExamples(syntheticTickets(150)));

// spec: 6.23, 6.24
test('finds everything that it knows of a ticket', () => {
  const body =
    'Hello,\n\nI am really angry: the payment of my invoice was charged twice, and I need the refund immediately. The deadline is urgent, please think of the receipt.';
  const found = analyse({ subject: 'Refund', body }, model, ['Angry!', 'refund immediately', 'router']);
  expect(found).toMatchObject({
    language: { code: 'en' },
    sentiment: { label: 'negative' },
    keywords: ['Angry!', 'refund immediately'],
    topic: { label: 'billing' },
  });
  expect(found.tags.map(({ label }) => label).sort()).toEqual([tagIds.urgent, tagIds.billing]);
  expect(found.spamProbability).toBeLessThan(0.5);
  expect(found.summary).toContain('charged twice');
});

test('finds nothing in a ticket without text', () => {
  expect(analyse({ subject: null, body: null }, emptyModel(), ['', '!'])).toEqual({
    language: null,
    sentiment: null,
    summary: null,
    keywords: [],
    tags: [],
    topic: null,
    spamProbability: null,
  });
});

const mebibytes = 5 * 1024 * 1024;

test.each([
  ['one character', 'a'],
  ['emojis', '😀'],
  ['halves of emojis', '\ud83d'],
  ['NUL', '\0'],
  ['line breaks', '\n'],
  ['accents without letters', '\u0301'],
  ['characters that become many', '\ufdfa'],
  ['Chinese without spaces', '我的订单'],
  ['short sentences', 'Das ist so. '],
  ['full stops', '.'],
  ['negations', 'not '],
  ['numbers', '12345 '],
])('5 MiB of %s take little time', async (_, text) => {
  const hostile = text.repeat(Math.ceil(mebibytes / text.length));
  // 50 ms at most on an idle machine; the limit leaves room for a busy one.
  const found = await withinCpuTime(1500, () =>
    analyse({ subject: hostile, body: hostile }, model, ['angry', hostile.slice(0, 100_000)]),
  );
  expect((found.summary ?? '').length).toBeLessThanOrEqual(maxSummaryChars);
  expect(found.summary?.isWellFormed() ?? true).toBe(true);
  expect(found.spamProbability).toBeGreaterThanOrEqual(0);
});
