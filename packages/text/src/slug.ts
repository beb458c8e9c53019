import { spellPlainly, spellUmlauts } from './letters.ts';

/** The most characters of a slug. */
const maxSlugLength = 100;

/**
 * Derives a slug from a name: in lower case, without accents, with a hyphen in place of everything that is neither a letter
 * from a to z nor a digit.
 *
 * Shape: 1 to 100 characters, as the contracts demand of a slug that is given; `fallback` if nothing of the name is left.
 * Source: docs/reference/api.md, Slugs.
 */
export function toSlug(name: string, fallback: string): string {
  const spelled = spellPlainly(spellUmlauts(name.normalize('NFC').toLowerCase()));
  const plain = spelled
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '');
  return trimmed(plain.replace(/[^a-z0-9]+/g, '-')) || fallback;
}

/** Returns the slug that follows from another one that is taken: with a number at its end, at most 100 characters. */
export function numberedSlug(slug: string, number: number): string {
  const suffix = `-${number}`;
  return trimmed(slug.slice(0, maxSlugLength - suffix.length)) + suffix;
}

/** Returns the first free one of a slug and its variants with a number from 2 on. */
export function freeSlug(slug: string, isTaken: (slug: string) => boolean): string {
  let free = slug;
  for (let number = 2; isTaken(free); number++) free = numberedSlug(slug, number);
  return free;
}

/** Returns the common beginning of all numbered slugs that follow from a slug. */
export function slugStem(slug: string): string {
  return trimmed(slug.slice(0, maxSlugLength - longestSuffix));
}

/** A hyphen and a number of at most ten digits. */
const longestSuffix = 11;

function trimmed(text: string): string {
  return text.replace(/^-/, '').slice(0, maxSlugLength).replace(/-$/, '');
}
