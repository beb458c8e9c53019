import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/min';

/** The country whose numbers people write without its code (ISO 3166-1 alpha-2), for example `DE`; null if there is none. */
export type DefaultCountry = string | null;

/**
 * Returns the spellings in digits by which a telephone number is compared: with the code of its country (E.164, without
 * `+`), and, for one of the default country, as it is dialled there. So `030/12 34 56`, `+49 (0)30 123456` and
 * `tel:+49-30-123456` have one in common. Empty for a text that is no number, or one without a country.
 */
export function phoneSpellings(text: string, defaultCountry: DefaultCountry): string[] {
  if (text.length > maxNumberLength) return [];
  const country = isCountry(defaultCountry) ? defaultCountry : undefined;
  const plain = text.replace(/^\s*(?:tel|callto|sms):/i, '').replace(/^\s*00[\s/-]?(?=[1-9])/, '+');
  const number = parsePhoneNumberFromString(plain, { ...(country && { defaultCountry: country }), extract: false });
  if (!number?.isValid()) return [];
  // The national form has it after the number.
  delete number.ext;
  const isOwn = country !== undefined && getCountryCallingCode(country) === number.countryCallingCode;
  return [number.number.slice(1), ...(isOwn ? [number.formatNational().replace(/\D/g, '')] : [])];
}

/** Whether a text is the code of a country that has telephone numbers. */
export function isCountry(code: string | null): code is CountryCode {
  return code !== null && isSupportedCountry(code);
}

/** Longer texts are no numbers. */
const maxNumberLength = 100;
