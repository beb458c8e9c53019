import { invalidInput } from '@ticketing/errors/domain-error.ts';
import type { DefaultCountry } from '@ticketing/text/phone-number.ts';
import { readSearch } from '@ticketing/text/search-query.ts';
import { splitWords, wordSequence } from '@ticketing/text/words.ts';
import { addToCustomer, type Customer, foldEmail, type GivenCustomer, phoneForms } from '../rules/customer.ts';
import { idKey } from '../rules/identify.ts';
import type { CustomerConditions, CustomerDocument, CustomerStore, WrittenCustomers } from './embedded-store.ts';
import { type CustomerQuery, type Erp, maxMatches } from './erp.ts';

/** An ERP system whose customers are imported into the database of this service. */
export interface EmbeddedErp extends Erp {
  /** Adds customers, and adds to those that are there. Errors: too_large, with a pointer; store_unavailable. */
  add(customers: readonly GivenCustomer[]): Promise<WrittenCustomers>;
}

/** A page of the search has at most 100 customers, and must not have much more than 16 MiB. */
const maxCustomerLength = 256 * 1024;
/** How long it is remembered that there are no customers, so that tickets need not look for theirs. */
const emptyForMs = 5_000;

/** Opens the embedded customers. `readCountry` reads the country whose telephone numbers are written without its code. */
export function embeddedErp(store: CustomerStore, readCountry: () => Promise<DefaultCountry>): EmbeddedErp {
  let hasCustomers = false;
  let emptyUntil = Number.NEGATIVE_INFINITY;

  async function isEmpty(): Promise<boolean> {
    if (hasCustomers) return false;
    if (performance.now() < emptyUntil) return true;
    hasCustomers = !(await store.isEmpty());
    if (!hasCustomers) emptyUntil = performance.now() + emptyForMs;
    return !hasCustomers;
  }

  return {
    async search(query, page) {
      const conditions = toConditions(query, await readCountry());
      if (!conditions) return { customers: [], total: 0 };
      const [contents, total] = await Promise.all([store.list(conditions, page), store.count(conditions)]);
      return { customers: contents.map(fromContent), total };
    },
    async customer(id) {
      if (await isEmpty()) return undefined;
      const content = await store.find(id);
      return content === undefined ? undefined : fromContent(content);
    },
    async contract(id) {
      if (await isEmpty()) return undefined;
      const contents = await store.list({ keys: [[contractKey(id)]] }, { limit: 2, offset: 0 });
      const contracts = contents
        .flatMap((content) => fromContent(content).contracts)
        .filter((one) => fold(one.id) === fold(id));
      return contracts.find((one) => one.id === id) ?? contracts[0];
    },
    async match({ ids, email, phone = null }) {
      const anyKey = ids.flatMap((id) => [`~customer=${idKey(id)}`, `~contract=${idKey(id)}`]);
      if (email !== null) anyKey.push(emailKey(email));
      if (phone !== null) anyKey.push(...phoneKeys(phone, await readCountry()));
      if (anyKey.length === 0 || (await isEmpty())) return [];
      return (await store.list({ anyKey }, { limit: maxMatches, offset: 0 })).map(fromContent);
    },
    async add(customers) {
      const ids = customers.map(({ id }) => id);
      const written = await store.write(ids, (stored) =>
        customers.map((given, index) => {
          const content = stored.get(given.id);
          return sizedDocument(addToCustomer(content === undefined ? undefined : fromContent(content), given), index);
        }),
      );
      hasCustomers = true;
      return written;
    },
  };
}

/** The conditions of a query; undefined if no customer can match. */
function toConditions(query: CustomerQuery, country: DefaultCountry): CustomerConditions | undefined {
  const { q, customerId, contractId, email, phone, firstname, lastname, zip } = query;
  const terms = q === undefined ? undefined : readSearch(q, { defaultCountry: country, leastBeginning: 1 });
  if (terms?.length === 0) return undefined;
  const keys = [
    ...(customerId === undefined ? [] : [[`customer=${fold(customerId)}`]]),
    ...(contractId === undefined ? [] : [[contractKey(contractId)]]),
    ...(email === undefined ? [] : [[emailKey(email)]]),
    ...(phone === undefined ? [] : [phoneKeys(phone, country)]),
    ...(firstname === undefined ? [] : [[`firstname=${foldName(firstname)}`]]),
    ...(lastname === undefined ? [] : [[`lastname=${foldName(lastname)}`]]),
    ...(zip === undefined ? [] : [[zipKey(zip)]]),
  ];
  return { keys, ...(terms && { terms }) };
}

/** The document of a customer of an import. Errors: too_large. */
function sizedDocument(customer: Customer, index: number): CustomerDocument {
  const document = toDocument(customer);
  if (document.content.length <= maxCustomerLength) return document;
  const detail = `has more than ${maxCustomerLength} characters with its contracts`;
  throw invalidInput([{ pointer: `#/customers/${index}`, code: 'too_large', detail }]);
}

function toDocument(customer: Customer): CustomerDocument {
  const { id, company, firstname, lastname, email, phone, address, zip, city, contracts } = customer;
  const keys = [
    ...[`customer=${fold(id)}`, `~customer=${idKey(id)}`],
    ...contracts.flatMap((contract) => [contractKey(contract.id), `~contract=${idKey(contract.id)}`]),
    ...[email, ...contracts.map((contract) => contract.email)].flatMap((one) => (one === null ? [] : [emailKey(one)])),
    ...(phone === null ? [] : phoneKeys(phone, null)),
    ...(firstname === null ? [] : [`firstname=${foldName(firstname)}`]),
    ...(lastname === null ? [] : [`lastname=${foldName(lastname)}`]),
    ...[zip, ...contracts.map((contract) => contract.zip)].flatMap((one) => (one === null ? [] : [zipKey(one)])),
  ];
  const texts = [id, company, firstname, lastname, email, phone, address, zip, city];
  const textsOfContracts = contracts.flatMap((one) => [one.id, one.email, one.zip]);
  return {
    _id: id,
    content: JSON.stringify(customer),
    keys: [...new Set(keys)],
    words: splitWords([...texts, ...textsOfContracts]),
  };
}

const fromContent = (content: string) => JSON.parse(content) as Customer;
const fold = (id: string) => id.trim().toLowerCase();
const foldName = (name: string) => wordSequence(name, name.length).trim();
const contractKey = (id: string) => `contract=${fold(id)}`;
const emailKey = (email: string) => `email=${foldEmail(email)}`;
const zipKey = (zip: string) => `zip=${fold(zip)}`;
const phoneKeys = (phone: string, country: DefaultCountry) => phoneForms(phone, country).map((form) => `phone=${form}`);
