import { describe, expect, it } from 'vitest';
import { idKey, maxCandidates, maxMentionsLength, mentionsIn } from './mentions.ts';

describe('candidates', () => {
  it.each([
    ['Mein Vertrag V-4711 läuft', ['V-4711', '4711']],
    ['Kd.-Nr.4711/22', ['Nr.4711/22', 'Nr.4711', '4711/22', '4711']],
    ['VN4711', ['VN4711']],
    ['um 10 Uhr, 100 Euro', []],
    ['1000 Euro', ['1000']],
    ['k1 K22', ['K22']],
    ['keine Nummer', []],
    ['', []],
  ])('of "%s"', (text, candidates) => {
    expect(mentionsIn([text]).candidates).toEqual(candidates);
  });

  it('come once, from all texts, and are at most 40', () => {
    expect(mentionsIn(['A-12345', null, 'a-12345 B-12345']).candidates).toEqual(['A-12345', '12345', 'B-12345']);
    const many = Array.from({ length: 41 }, (_, index) => `X${index + 100}`);
    expect(mentionsIn([many.slice(0, 40).join(' ')]).candidates).toHaveLength(40);
    expect(mentionsIn([many.join(' ')]).candidates).toHaveLength(maxCandidates);
  });

  it('have at most 50 characters', () => {
    expect(mentionsIn([`${'9'.repeat(50)} ${'8'.repeat(51)}`]).candidates).toEqual(['9'.repeat(50)]);
  });
});

describe('an id', () => {
  it.each([
    ['V-4711', 'v4711'],
    ['V-4711', 'Vertrag:v/4711.'],
    ['4711', '(4711)'],
    ['12', 'Kunde 12'],
  ])('%s is in "%s"', (id, text) => {
    expect(mentionsIn([text]).hasId(id)).toBe(true);
  });

  it.each([
    ['4711', '47110'],
    ['4711', 'x4711'],
    ['V-4711', '4711'],
    ['', ''],
  ])('%s is not in "%s"', (id, text) => {
    expect(mentionsIn([text]).hasId(id)).toBe(false);
  });

  it('is compared without case, width and punctuation', () => {
    expect(idKey('v-4711/A')).toBe(idKey('V 4711 a'));
  });
});

it('finds words only as a whole, in their order', () => {
  const { hasWords } = mentionsIn(['Gruß, Anna-Lena Müller\nMusterstr. 12']);
  expect(['müller', 'Lena MULLER', 'Musterstraße 12'].map(hasWords)).toEqual([true, true, true]);
  expect(['Mülle', 'Müller Lena', 'Musterstr. 1', '', '-', null].map(hasWords)).toEqual(Array(6).fill(false));
});

it('reads the first characters of a text only', () => {
  const text = `${' '.repeat(maxMentionsLength - 4)}4711`;
  expect(mentionsIn([text]).hasId('4711')).toBe(true);
  expect(mentionsIn([` ${text}`]).hasId('4711')).toBe(false);
});
