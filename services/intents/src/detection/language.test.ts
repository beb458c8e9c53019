import { expect, test } from 'vitest';
import { detectLanguage } from './language.ts';

test.each([
  ['en', 'The parcel has not arrived yet, where is it?'],
  ['de', 'Mein Paket ist noch nicht angekommen, wo ist es?'],
  ['es', 'Mi paquete todavía no ha llegado, ¿dónde está?'],
  ['pt', 'A minha encomenda ainda não chegou, onde está?'],
  ['fr', "Mon colis n'est pas encore arrivé, où est-il ?"],
  ['nl', 'Mijn pakket is nog niet aangekomen, waar is het?'],
  ['ru', 'Моя посылка ещё не пришла, где она?'],
  ['ja', '荷物がまだ届いていません。どこにありますか？'],
])('finds %s', (code, text) => {
  expect(detectLanguage(text)).toEqual({ code, confidence: expect.any(Number) });
  expect(detectLanguage(text)?.confidence).toBeGreaterThan(0.8);
});

test('a text with less than ten letters has no language', () => {
  expect(detectLanguage('die Router')).toBeNull();
  expect(detectLanguage('dein Router')).not.toBeNull();
  expect(detectLanguage('4711 0815 1234 5678 !!! 😀😀😀😀😀😀😀😀😀😀')).toBeNull();
});

test('is not sure of a text that is no language', () => {
  expect(detectLanguage('Xq zrtk pwvb ghjk lmnp')?.confidence ?? 0).toBeLessThan(0.9);
});
