/** Letters that are not one of a to z with an accent, and what stands for them where only those are written. */
export const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
};

/** The spellings of umlauts in German without them. */
export const umlautSpellings: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue' };
