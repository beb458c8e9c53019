import { expect, test } from 'vitest';
import { extractFeatures, featuresFromBytes, featuresToBytes, wordBit } from './features.ts';
import { maxBodyChars, maxSubjectChars } from './ticket-text.ts';

const of = (body: string, subject: string | null = null) => extractFeatures({ subject, body });

test('a word and its parts are features', () => {
  const { hashes, counts } = of('router');
  // " router ", and " rout", "route", "outer", "uter ".
  expect(hashes).toHaveLength(5);
  expect([...hashes].filter((hash) => hash >= wordBit)).toHaveLength(1);
  expect([...counts]).toEqual([1, 1, 1, 1, 1]);
});

test('a feature is counted as often as it occurs, up to 255 times', () => {
  expect(Math.max(...of('ab '.repeat(255)).counts)).toBe(255);
  expect(Math.max(...of('ab '.repeat(256)).counts)).toBe(255);
  expect(Math.max(...of('ab '.repeat(254)).counts)).toBe(254);
});

test('features do not depend on case, accents, punctuation and the field', () => {
  expect(of('Große Störung!')).toEqual(of('grosse  storung'));
  expect(of('', 'offline')).toEqual(of('offline'));
  expect(of('one\0two')).toEqual(of('one two'));
});

test('hashes are ascending and unique', () => {
  const hashes = [...of('the modem is offline, the modem was offline').hashes];
  expect(hashes).toEqual([...new Set(hashes)].sort((left, right) => left - right));
});

test('a number of up to three digits is learned, a longer one is not', () => {
  expect(of('404')).not.toEqual(of('405'));
  expect(of('4711')).toEqual(of('0815'));
  expect(of('V4711x')).toEqual(of('99999999'));
});

test('only the beginning of a text is read', () => {
  const body = 'a'.repeat(maxBodyChars - 4);
  expect(of(`${body} abc`)).not.toEqual(of(`${body}    `));
  expect(of(`${body}     abc`)).toEqual(of(body));
  const subject = 'a'.repeat(maxSubjectChars - 4);
  expect(of('', `${subject} abc`)).not.toEqual(of('', subject));
  expect(of('', `${subject}     abc`)).toEqual(of('', subject));
});

test('a text without words has no features', () => {
  for (const text of ['', ' ', '!?…', '😀😀', '\0\0']) expect(of(text).hashes).toHaveLength(0);
  expect(extractFeatures({ subject: null, body: null }).hashes).toHaveLength(0);
});

test.each([
  ['a text', 'Guten Tag, mein Abschlag ist viel zu hoch. Abschlag, Abschlag!'],
  ['nothing', ''],
])('features of %s are the same after they were bytes', (_, body) => {
  const features = extractFeatures({ subject: null, body });
  // As the driver returns them: a part of a larger buffer, at any position.
  const stored = Buffer.concat([Buffer.from('abc'), featuresToBytes(features), Buffer.from('d')]).subarray(3, -1);
  expect(featuresFromBytes(stored)).toEqual(features);
});
