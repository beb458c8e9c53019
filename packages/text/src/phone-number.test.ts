import { expect, it } from 'vitest';
import { isCountry, phoneSpellings } from './phone-number.ts';

it.each([
  ['030/12 34 56', 'DE', ['4930123456', '030123456']],
  ['+49 (0)30 123456', 'DE', ['4930123456', '030123456']],
  ['0049 30 123456', null, ['4930123456']],
  ['00 49 30 123456', null, ['4930123456']],
  ['tel:+49-30-123456;ext=12', 'AT', ['4930123456']],
  ['(212) 555-0123', 'US', ['12125550123', '2125550123']],
  ['030 123456', null, []],
  ['4711', 'DE', []],
  ['anonymous', 'DE', []],
  ['1'.repeat(200), 'DE', []],
  ['030 123456', 'XX', []],
])('the spellings of %s in %s are %j', (text, country, spellings) => {
  expect(phoneSpellings(text, country)).toEqual(spellings);
});

it('knows the countries that have telephone numbers', () => {
  expect(['DE', 'AT', 'US'].every(isCountry)).toBe(true);
  expect(['XX', 'de', '', null].some(isCountry)).toBe(false);
});
