import type { JsonObject } from '@bufbuild/protobuf';
import { type DefaultCountry, phoneSpellings } from '@ticketing/text/phone-number.ts';

/** A customer as the ERP system knows it. It can be written as JSON and read back. */
export interface Customer {
  id: string;
  business: boolean;
  company: string | null;
  firstname: string | null;
  lastname: string | null;
  email: string | null;
  phone: string | null;
  /** Street and number. */
  address: string | null;
  zip: string | null;
  city: string | null;
  tagIds: readonly number[];
  contracts: readonly Contract[];
  additionalData: JsonObject | null;
}

/** A contract as the ERP system knows it. Units: dates in Unix seconds. */
export interface Contract {
  id: string;
  customerId: string | null;
  status: string | null;
  startDate: number | null;
  endDate: number | null;
  productName: string | null;
  zip: string | null;
  email: string | null;
  additionalData: JsonObject | null;
  rawData: JsonObject | null;
}

/** A customer as an import gives it; null and an empty list leave known values as they are. */
export type GivenCustomer = Omit<Customer, 'business'> & { business: boolean | null };

/** Merges an imported customer into the known one. Contracts that are known already are merged in the same way. */
export function addToCustomer(known: Customer | undefined, given: GivenCustomer): Customer {
  const contracts = new Map(known?.contracts.map((contract) => [contract.id, contract]));
  for (const contract of given.contracts) {
    contracts.set(contract.id, { ...contract, ...contracts.get(contract.id), ...withoutNulls(contract) });
  }
  return {
    ...given,
    ...known,
    ...withoutNulls(given),
    business: given.business ?? known?.business ?? false,
    tagIds: given.tagIds.length > 0 ? given.tagIds : (known?.tagIds ?? []),
    contracts: [...contracts.values()],
  };
}

/** Leaves out null members: the contract writes an unset field as an absent one. */
export function withoutNulls<Item extends object>(item: Item) {
  type Present = { [Name in keyof Item]?: NonNullable<Item[Name]> };
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null)) as Present;
}

/** The part of its customer that a ticket copies, as last read, so that lists of tickets need not read customers. */
export interface CustomerCopy {
  customerTagIds: readonly number[];
  customerEmail: string | null;
}

/** The copy of a customer; empty if the ERP system does not have the customer. */
export function toCustomerCopy(customer: Customer | null): CustomerCopy {
  return { customerTagIds: customer?.tagIds ?? [], customerEmail: customer?.email ?? null };
}

/** The form in which e-mail addresses are compared. */
export function foldEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** Whether two texts are the same e-mail address. */
export function isSameEmail(left: string | null, right: string | null): boolean {
  return left !== null && right !== null && foldEmail(left) !== '' && foldEmail(left) === foldEmail(right);
}

/**
 * The forms in which telephone numbers are sought: those of the digits as they are written, and of the spellings, without
 * the zeros before them. A stored number has them without a country, so that the country can change. Numbers of two
 * countries can have one in common.
 */
export function phoneForms(phone: string, country: DefaultCountry): string[] {
  const spellings = [withoutParameters(phone), ...phoneSpellings(phone, country)];
  return [...new Set(spellings.map((one) => one.replace(/\D+/g, '').replace(/^0+/, '')))].filter((one) => one !== '');
}

/** A telephone number with the code of its country (E.164); as it is given if that is not known. */
export function internationalPhone(phone: string, country: DefaultCountry): string {
  const [digits] = phoneSpellings(phone, country);
  return digits === undefined ? phone : `+${digits}`;
}

/**
 * The numbers by which a telephone is known: with a country, that of E.164 with its `+`, and the one that is dialled in the
 * country; without, the digits as they are written.
 */
export function phoneNumbers(phone: string, country: DefaultCountry): string[] {
  const [international, national] = phoneSpellings(phone, country);
  const numbers =
    international === undefined
      ? [withoutParameters(phone).replace(/[^\d+]/g, '')]
      : [`+${international}`, ...(national === undefined ? [] : [national])];
  return numbers.filter((number) => number.length >= leastPhoneLength);
}

/** Shorter ones stand for suppressed or unknown numbers. */
const leastPhoneLength = 5;

/** A number of RFC 3966 without its parameters, such as an extension. */
const withoutParameters = (phone: string) => phone.replace(/;.*$/s, '');

/** Whether a customer has one of the numbers of a telephone. */
export function hasPhone({ phone }: Customer, numbers: readonly string[]): boolean {
  return phone !== null && phoneNumbers(phone, null).some((number) => numbers.includes(number));
}

/** The contract of a customer with an id, without regard to case. */
export function contractOf(customer: Customer | null, contractId: string | null): Contract | undefined {
  const wanted = contractId?.trim().toLowerCase();
  return customer?.contracts.find(({ id }) => id.trim().toLowerCase() === wanted);
}
