import { expect, test } from 'vitest';
import { extractFeatures } from './features.ts';
import { prepareExamples } from './training-examples.ts';
import { buildVocabulary, maxFeatures, minTexts, toVector } from './vocabulary.ts';

const of = (body: string) => extractFeatures({ subject: null, body });

test('a feature of too few texts is in no vocabulary', () => {
  const texts = (count: number) => Array.from({ length: count }, (_, index) => of(`secret ${'abcdefg'[index]}`));
  expect(buildVocabulary(texts(minTexts - 1)).hashes).toHaveLength(0);
  expect(buildVocabulary(texts(minTexts)).hashes).toEqual(of('secret').hashes);
});

test('texts that are the same count as one', () => {
  const examples = Array.from({ length: 10 }, () => ({ features: of('a secret that one customer repeats') }));
  expect(prepareExamples(examples).vocabulary.hashes).toHaveLength(0);
});

test('a vocabulary has the most frequent features, up to its limit', () => {
  const hashes = Uint32Array.from({ length: maxFeatures + 1 }, (_, index) => index);
  const text = (length: number) => ({ hashes: hashes.subarray(0, length), counts: new Uint8Array(length).fill(1) });
  const all = Array.from({ length: minTexts }, () => text(maxFeatures + 1));
  expect(buildVocabulary(Array.from({ length: minTexts }, () => text(maxFeatures))).hashes).toHaveLength(maxFeatures);
  const kept = buildVocabulary([...all, text(maxFeatures)]).hashes;
  expect(kept).toHaveLength(maxFeatures);
  expect(kept.at(-1)).toBe(maxFeatures - 1);
});

test('words and parts of words each have the length 1, however long the text is', () => {
  const texts = ['router offline', 'router modem', 'router broken', 'modem broken', 'modem offline again'].map(of);
  const vocabulary = buildVocabulary([...texts, ...texts]);
  for (const text of [...texts, of('router '.repeat(50))]) {
    const { indices, values } = toVector(text, vocabulary);
    expect(values.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(2, 5);
    expect([...indices]).toEqual([...indices].sort((left, right) => left - right));
  }
});

test('a rare word weighs more than a frequent one', () => {
  const texts = ['common rare one', 'common rare two', 'common rare three', 'common four', 'common five'].map(of);
  const vocabulary = buildVocabulary(texts);
  const findWeight = (word: string) => vocabulary.idf[vocabulary.hashes.indexOf(of(word).hashes.at(-1) ?? 0)] ?? 0;
  expect(findWeight('rare')).toBeGreaterThan(findWeight('common'));
  expect(toVector(of('unknown'), vocabulary).indices).toHaveLength(0);
});
