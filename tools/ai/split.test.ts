import { expect, test } from 'vitest';
import { isMeasured } from './split.ts';

test('about 30 % are measured, others in another split', () => {
  const tickets = Array.from({ length: 2000 }, (_, index) => ({ subject: `Ticket ${index}`, body: null }));
  const splits = [0, 1].map((split) => tickets.map((ticket) => isMeasured(ticket, split)));
  for (const split of splits) {
    expect(split.filter(Boolean).length / tickets.length).toBeGreaterThan(0.27);
    expect(split.filter(Boolean).length / tickets.length).toBeLessThan(0.33);
  }
  expect(splits[0]).not.toEqual(splits[1]);
});

test('a ticket is where compare.py puts it', () => {
  const measured = (split: number) =>
    [...'abcdefghijklmnopqrstuvwxyz'].filter((body) => isMeasured({ subject: 'a', body }, split)).join('');
  expect(measured(0)).toBe('mvxy');
  expect(measured(2)).toBe('cdeikmnpqrtuyz');
});
