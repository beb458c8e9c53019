import { UsageError } from '../cli/command.ts';
import { isObject, parseJson } from './json.ts';
import { rejectColumns } from './map-row.ts';

/** A customer or contract of a row, in the JSON of the RPC. */
export type CustomerJson = Record<string, unknown>;

/** How a cell becomes the value of a field. */
interface Field {
  /** Undefined if the text is not valid. */
  read(text: string): unknown;
  expected: string;
}

const text: Field = { read: (cell) => cell.trim(), expected: 'text' };
const time: Field = { read: readTime, expected: 'YYYY-MM-DD, YYYY-MM-DD HH:MM:SS (UTC) or RFC 3339' };
const json: Field = { read: readObject, expected: 'a JSON object' };
const yesOrNo: Field = { read: readBoolean, expected: 'true or false, yes or no, 1 or 0' };
const names: Field = { read: readList, expected: 'names of tags, separated by ; or ,' };
const ids: Field = { read: readIds, expected: 'ids of tags, separated by ; or ,' };

/** The columns of customers and of their contracts. */
export const customerFields: ReadonlyMap<string, Field> = new Map([
  ['id', text],
  ['business', yesOrNo],
  ...['company', 'firstname', 'lastname', 'email', 'phone', 'address', 'zip', 'city'].map((name): [string, Field] => [
    name,
    text,
  ]),
  ['tags', names],
  ['tagIds', ids],
  ['additionalData', json],
  ['contract.id', text],
  ['contract.customerId', text],
  ['contract.status', text],
  ['contract.startDate', time],
  ['contract.endDate', time],
  ['contract.productName', text],
  ['contract.zip', text],
  ['contract.email', text],
  ['contract.additionalData', json],
  ['contract.rawData', json],
]);

/** The columns that fill the fields. */
export interface CustomerMapping {
  fields: { field: string; index: number }[];
  /** The columns that no field is filled from. */
  unused: string[];
}

/** A customer of one row, with one contract or none. */
export interface MappedCustomer {
  customer: CustomerJson & { id: string; contracts: CustomerJson[] };
  tagNames: string[];
  problems: string[];
}

/** Decides which column fills which field. Errors: UsageError, for an unknown field or column, and without an id. */
export function planCustomers(header: readonly string[], columns: ReadonlyMap<string, string>): CustomerMapping {
  for (const field of columns.keys()) {
    if (customerFields.has(field)) continue;
    const known = [...customerFields.keys()].join(', ');
    throw new UsageError(`"${field}" is not a field to import. The fields are: ${known}.`);
  }
  const fields = [...customerFields.keys()].flatMap((field) => {
    const column = columns.get(field) ?? header.find((name) => name.toLowerCase() === field.toLowerCase());
    if (column === undefined || column === '') return [];
    const index = header.indexOf(column);
    if (index >= 0) return [{ field, index }];
    throw new UsageError(`There is no column "${column}". The columns are: ${header.join(', ')}.`);
  });
  if (!fields.some(({ field }) => field === 'id'))
    throw new UsageError('There is no column "id" with the customer ids.');
  const used = new Set(fields.map(({ index }) => index));
  const ignored = new Set<string>(rejectColumns);
  return { fields, unused: header.filter((column, index) => !used.has(index) && !ignored.has(column)) };
}

/** Makes a customer from a row. Empty cells count as absent. */
export function mapCustomer(mapping: CustomerMapping, cells: readonly string[]): MappedCustomer {
  const customer: CustomerJson = {};
  const contract: CustomerJson = {};
  const problems: string[] = [];
  let tagNames: string[] = [];
  for (const { field, index } of mapping.fields) {
    const cell = cells[index] ?? '';
    if (cell.trim() === '') continue;
    const value = customerFields.get(field)?.read(cell);
    if (value === undefined) {
      problems.push(`#/${field}: "${cell.slice(0, 80)}" is not ${customerFields.get(field)?.expected}`);
    } else if (field === 'tags') tagNames = value as string[];
    else if (field.startsWith('contract.')) contract[field.slice('contract.'.length)] = value;
    else customer[field] = value;
  }
  if (customer.id === undefined) problems.push('#/id: is missing');
  const hasContract = Object.keys(contract).length > 0;
  if (hasContract && contract.id === undefined) problems.push('#/contract.id: is missing');
  const id = String(customer.id ?? '');
  return { customer: { ...customer, id, contracts: hasContract ? [contract] : [] }, tagNames, problems };
}

/** Adds a later row of the same customer: its values, and its contract. */
export function addRow(first: MappedCustomer['customer'], later: MappedCustomer['customer']): void {
  const contracts = new Map([...first.contracts, ...later.contracts].map((contract) => [contract.id, contract]));
  const known = new Map(first.contracts.map((contract) => [contract.id, contract]));
  Object.assign(first, later, {
    contracts: [...contracts].map(([id, contract]) => ({ ...known.get(id), ...contract })),
  });
}

function readTime(cell: string): string | undefined {
  const [, date, clock = '00:00:00', zone = 'Z'] =
    /^\s*(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}:\d{2})(Z|[+-]\d{2}:\d{2})?)?\s*$/.exec(cell) ?? [];
  const rfc3339 = `${date}T${clock}${zone}`;
  const at = new Date(rfc3339).getTime();
  if (date === undefined || Number.isNaN(at)) return undefined;
  // `Date` takes 30 February for 2 March.
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date) ? rfc3339 : undefined;
}

function readObject(cell: string): unknown {
  const value = parseJson(cell);
  return isObject(value) ? value : undefined;
}

function readBoolean(cell: string): boolean | undefined {
  const word = cell.trim().toLowerCase();
  if (['true', 'yes', '1'].includes(word)) return true;
  return ['false', 'no', '0'].includes(word) ? false : undefined;
}

function readList(cell: string): string[] {
  return cell
    .split(/[;,]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function readIds(cell: string): number[] | undefined {
  const parts = readList(cell);
  return parts.every((part) => /^[1-9]\d{0,9}$/.test(part)) ? parts.map(Number) : undefined;
}
