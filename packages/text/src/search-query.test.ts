import { describe, expect, it } from 'vitest';
import { readSearch } from './search-query.ts';
import { splitWords } from './words.ts';

/** Whether a search finds a text, by the definition of both. */
function finds(text: string, q: string, defaultCountry: string | null = 'DE'): boolean {
  const words = splitWords([text]);
  const has = (word: string, isBeginning: boolean) =>
    words.some((one) => (isBeginning ? one.startsWith(word) : one === word));
  const terms = readSearch(q, { defaultCountry });
  return (
    terms.length > 0 &&
    terms.every((term) => term.some((list) => list.every(({ word, isBeginning }) => has(word, isBeginning))))
  );
}

describe('a search finds', () => {
  it.each([
    [
      'umlauts without their signs',
      'Familie Müller, Größe',
      ['mueller', 'muller', 'MÜLLER', 'Mül', 'groesse', 'große'],
    ],
    ['umlauts by two letters', 'Mueller aus Koeln', ['Müller', 'mueller köln']],
    ['letters of other languages', 'Bjørn aus Łódź, Đorđe, Æsir, œuvre', ['bjorn lodz', 'dorde', 'aesir', 'oeuvre']],
    ['Icelandic and Turkish letters', 'Þór, Guðrún, Işık', ['thor', 'gudrun', 'isik', 'ışık']],
    ['accents and marks', 'Crème brûlée, العَرَبِيَّة, Ελλάδος', ['creme brulee', 'العربية', 'ΕΛΛΑΔΟΣ']],
    [
      'what has invisible characters',
      'Soft\u00adhyphen, zero\u200bwidth, كتـــاب',
      ['softhyphen', 'zerowidth', 'كتاب'],
    ],
    ['the beginning of a word from three letters on', 'Zählerstand 4711', ['Zählerst', 'zae', '471']],
    ['Chinese', '请尽快寄送报价单给我们公司', ['报价单', '公司', '尽快 公司', '单']],
    ['Japanese', 'ご依頼の見積書をお送りします', ['見積書', '見', 'お送り']],
    ['Thai', 'กรุณาส่งใบเสนอราคา', ['ใบเสนอราคา']],
    ['Korean', '견적서를 보내 주세요', ['견적서']],
    ['signs of names', 'Ich kann C++ und C#.', ['C++', 'c#', 'C']],
    ['emoji', 'Alles gut 👍🏽 🇩🇪 👨‍👩‍👧', ['👍', '👍🏽', '🇩🇪', '👨‍👩‍👧']],
    ['a number after letters without spaces', '订单号：12345', ['订单号 12345', '12345']],
    ['digits within a word', 'Zähler 1EMH0012345678', ['1emh0012345678', '1EMH00']],
    ['an IBAN in groups', 'DE89 3704 0044 0532 0130 00', ['DE89370400440532013000', 'de89 3704', '37040044']],
    ['an IBAN in one', 'IBAN: GB29NWBK60161331926819', ['GB29 NWBK 6016 1331 9268 19', 'gb29nwbk']],
    ['numbers in groups', 'Vertrag VN 123 456-78', ['VN12345678', '12345678', 'vn 123', '123 456']],
    ['numbers in one', 'VN12345678', ['VN 123 456 78', 'vn-12345678']],
    ['numbers in another order', 'Kunde 4711, Zähler 08154711', ['08154711 4711']],
    [
      'telephone numbers of the country',
      'Tel. 030/123 45 67',
      ['+49 30 1234567', '0049301234567', '0301234567', 'tel:+49-30-1234567'],
    ],
    ['international ones', 'Rückruf +49 (0)30 1234567 am 12.3.', ['030 1234567', '+49301234567', '0301234567']],
    ['one after other numbers', 'Am 12.03.2024 0030 030 1234567', ['+49 30 1234567']],
    ['a number among words', 'Bitte 0301234567 anrufen', ['bitte 030 1234567', 'anrufen (030) 123 45 67']],
    ['parts of addresses', 'kim.lee@example.com', ['kim.lee@example.com', 'example.com', 'lee']],
  ])('%s', (_, text, searches) => {
    for (const q of searches) expect(finds(text, q), q).toBe(true);
  });

  it.each([
    ['another word', 'Müller', 'Maier'],
    ['the end of a word', 'Zählerstand', 'stand'],
    ['a beginning of two letters', 'Zählerstand', 'zä'],
    ['a language by its first letter', 'Ich kann C.', 'C++'],
    ['another number', '030 1234567', '030 1234568'],
    ['a number of another country', '030 1234567', '+43 30 1234567'],
    ['characters in another order', '报价单', '单报'],
  ])('not %s', (_, text, q) => {
    expect(finds(text, q)).toBe(false);
  });

  it('telephone numbers of no country as they are written', () => {
    expect(finds('030 1234567', '+49 30 1234567', null)).toBe(false);
    expect(finds('030/1234567', '0301234567', null)).toBe(true);
    expect(finds('+49 30 1234567', '0049301234567', null)).toBe(true);
  });
});

it('a search has at most 32 words, each pair of characters as one, and none without words', () => {
  const words = Array.from({ length: 40 }, (_, at) => `w${at}`);
  expect(readSearch(words.join(' '))).toHaveLength(32);
  const [first, ...others] = readSearch(`one ${'请尽快寄送报价单给我们'.repeat(50)} last`);
  expect([first, others.map(([pairs]) => pairs?.length)]).toEqual([[[{ word: 'one', isBeginning: true }]], [31]]);
  for (const q of ['', ' ?! ', '\u200b', '.,-']) expect(readSearch(q)).toEqual([]);
});
