/** Makes a function that replaces letters in lower case by their spellings. */
function speller(spellings: Readonly<Record<string, string>>): (text: string) => string {
  const letters = new RegExp(`[${Object.keys(spellings).join('')}]`, 'gu');
  return (text) => text.replace(letters, (letter) => spellings[letter] ?? letter);
}

/** Replaces the letters that are not one of a to z with an accent by those that stand for them. */
export const spellPlainly = speller({
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
});

/** Replaces umlauts by two letters, as German does where they cannot be written. */
export const spellUmlauts = speller({ ä: 'ae', ö: 'oe', ü: 'ue' });
