import { expect, test } from 'vitest';
import { mailThread, referencesAmong } from './mail-thread.ts';

test('refers to the first mail and the 19 newest ones', () => {
  const ids = Array.from({ length: 25 }, (_, index) => `<${index}@example.com>`);
  expect(referencesAmong(ids.slice(0, 20))).toEqual(ids.slice(0, 20));
  expect(referencesAmong(ids.slice(0, 21))).toEqual([ids[0], ...ids.slice(2, 21)]);
  expect(referencesAmong(ids)).toEqual([ids[0], ...ids.slice(6)]);
});

test('refers to the newest mails with 2,000 characters at most', () => {
  const ids = Array.from({ length: 10 }, (_, index) => `<${String(index).repeat(498)}>`);
  expect(referencesAmong(ids)).toEqual([ids[0], ...ids.slice(7)]);
});

test('refers to nothing that would break a header, and to each mail once', () => {
  const valid = `<${'a'.repeat(998)}>`;
  const invalid = ['<a b@c>', '<a\r\nb@c>', 'a@b', '<a@b> <c@d>', '<ä@b>', '<>', `<${'a'.repeat(999)}>`, ''];
  expect(referencesAmong([...invalid, valid, valid])).toEqual([valid]);
  for (const id of invalid) expect(mailThread(id, [])).toBeNull();
  expect(mailThread(null, ['<a@b>'])).toBeNull();
  expect(mailThread(valid, ['<a@b>', 'x'])).toEqual({ messageId: valid, references: ['<a@b>'] });
});
