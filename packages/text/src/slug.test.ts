import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { freeSlug, numberedSlug, slugStem, toSlug } from './slug.ts';

const accepted = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

describe('a slug', () => {
  it.each([
    ['Zählerstand melden', 'zaehlerstand-melden'],
    ['ÄÖÜ äöü ß ẞ', 'aeoeue-aeoeue-ss-ss'],
    ['Zählerstand (zerlegt)', 'zaehlerstand-zerlegt'],
    ['Crème brûlée', 'creme-brulee'],
    ['Cafe\u0301 A\u0308rger', 'cafe-aerger'],
    ['Łódź, Ærø', 'lodz-aero'],
    ['ﬁn １２', 'fin-12'],
    ['  -- a_b.c -- ', 'a-b-c'],
    ['ﬁne №1', 'fine-no1'],
    ['Kündigung 2.0', 'kuendigung-2-0'],
    ['日本語', 'agent'],
    ['', 'agent'],
  ])('is derived from %j', (name, slug) => {
    expect(toSlug(name, 'agent')).toBe(slug);
  });

  it('has 100 characters at most, and does not end with a hyphen', () => {
    expect(toSlug('a'.repeat(100), 'x')).toBe('a'.repeat(100));
    expect(toSlug('a'.repeat(101), 'x')).toBe('a'.repeat(100));
    expect(toSlug(`${'a'.repeat(99)} b`, 'x')).toBe('a'.repeat(99));
  });

  it('gets a number that fits', () => {
    expect(numberedSlug('a', 2)).toBe('a-2');
    expect(numberedSlug('a'.repeat(100), 2)).toBe(`${'a'.repeat(98)}-2`);
    expect(numberedSlug(`${'a'.repeat(97)}-bb`, 2)).toBe(`${'a'.repeat(97)}-2`);
  });

  it('that is taken gets the first number that is not', () => {
    const taken = new Set(['a', 'a-2', 'a-4']);
    expect(freeSlug('a', (slug) => taken.has(slug))).toBe('a-3');
    expect(freeSlug('b', (slug) => taken.has(slug))).toBe('b');
  });
});

test('whatever the name and the number are, a slug is one that could be given, and begins with its stem', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.nat(), (name, number) => {
      const slug = toSlug(name, 'agent');
      const numbered = numberedSlug(slug, number);
      for (const one of [slug, numbered]) {
        expect(one).toMatch(accepted);
        expect(one.length).toBeLessThanOrEqual(100);
        expect(one.startsWith(slugStem(slug))).toBe(true);
      }
    }),
  );
});
