import type { DescMessage, JsonObject, MessageShape } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import {
  type Contract as ContractMessage,
  ContractSchema,
  type Customer as CustomerMessage,
  CustomerSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/customer_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import { compileMessageDecoder, Problems } from '@ticketing/rest/codec/decode.ts';
import { messageValidator } from '@ticketing/rest/codec/rules.ts';
import { addToCustomer, type Contract, type Customer, type GivenCustomer } from '../rules/customer.ts';

const decodeCustomer = jsonDecoder(CustomerSchema);
const decodeContract = jsonDecoder(ContractSchema);

/** Fields of the contract that are not the ERP system's: it names tags by `tagIds`. */
const notOfErp = new Set(['tags', 'emailMatches']);

/**
 * Reads a customer that an ERP system has sent in JSON. Members that are not fields of a customer are ignored, as are
 * those that are null.
 *
 * Errors: those of `invalidInput`.
 */
export function customerFromJson(value: unknown): Customer {
  const contracts = isObject(value) && Array.isArray(value.contracts) ? value.contracts : undefined;
  const known = knownMembers(CustomerSchema, value);
  const members = contracts ? contracts.map((one) => knownMembers(ContractSchema, one)) : undefined;
  const given = givenCustomer(
    decodeCustomer(isObject(known) && members ? { ...known, contracts: members } : known) as CustomerMessage,
  );
  return addToCustomer(undefined, given);
}

/** Reads a contract that an ERP system has sent in JSON, in the same way. */
export function contractFromJson(value: unknown): Contract {
  return contractOfMessage(decodeContract(knownMembers(ContractSchema, value)) as ContractMessage);
}

function jsonDecoder<Schema extends DescMessage>(schema: Schema): (value: unknown) => MessageShape<Schema> {
  const decode = compileMessageDecoder(schema);
  const validate = messageValidator(schema);
  return (value) => {
    const problems = new Problems();
    const message = decode(value, '#', problems);
    const violations = message && problems.violations.length === 0 ? validate(message) : problems.violations;
    if (!message || violations.length > 0) throw invalidInput(violations);
    return message as MessageShape<Schema>;
  };
}

function knownMembers(schema: DescMessage, value: unknown): unknown {
  if (!isObject(value)) return value;
  const names = schema.fields.map(({ jsonName }) => jsonName).filter((name) => !notOfErp.has(name));
  return Object.fromEntries(names.flatMap((name) => ((value[name] ?? null) === null ? [] : [[name, value[name]]])));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The customer of a message that an import gives. An empty text is none. */
export function givenCustomer(message: CustomerMessage): GivenCustomer {
  const { id, business = null, company, firstname, lastname, email, phone, address, zip, city } = message;
  return {
    id,
    business,
    company: company || null,
    firstname: firstname || null,
    lastname: lastname || null,
    email: email || null,
    phone: phone || null,
    address: address || null,
    zip: zip || null,
    city: city || null,
    tagIds: [...new Set(message.tagIds)],
    contracts: message.contracts.map((contract) => ({ ...contractOfMessage(contract), customerId: id })),
    additionalData: message.additionalData ?? null,
  };
}

function contractOfMessage(message: ContractMessage): Contract {
  return {
    id: message.id,
    customerId: message.customerId || null,
    status: message.status || null,
    startDate: toSeconds(message.startDate),
    endDate: toSeconds(message.endDate),
    productName: message.productName || null,
    zip: message.zip || null,
    email: message.email || null,
    additionalData: message.additionalData ?? null,
    rawData: message.rawData ?? null,
  };
}

function toSeconds(time: Timestamp | undefined): number | null {
  return time === undefined ? null : Number(time.seconds);
}

/** The message of a contract. */
export function contractMessage(contract: Contract): ContractMessage {
  const { id, startDate, endDate } = contract;
  return {
    $typeName: 'ticketing.tickets.v1.Contract',
    id,
    ...present(contract, ['customerId', 'status', 'productName', 'zip', 'email', 'additionalData', 'rawData']),
    ...(startDate === null ? {} : { startDate: toTimestamp(startDate) }),
    ...(endDate === null ? {} : { endDate: toTimestamp(endDate) }),
  };
}

/** The fields of a customer that are the same in its message. */
export function customerFields(customer: Customer) {
  const { id, business } = customer;
  return {
    id,
    business,
    ...present(customer, ['company', 'firstname', 'lastname', 'email', 'phone', 'address', 'zip', 'city']),
    ...present(customer, ['additionalData']),
  };
}

/** Some fields of an object, without those that are null. */
function present<Source extends object, Name extends keyof Source>(source: Source, names: readonly Name[]) {
  const entries = names.filter((name) => source[name] !== null).map((name) => [name, source[name]]);
  return Object.fromEntries(entries) as { [Key in Name]?: NonNullable<Source[Key]> };
}
