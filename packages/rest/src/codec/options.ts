import {
  clearField,
  clone,
  type DescEnum,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
} from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import * as contract from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';

// Cached, because reading an option builds it again, and checks read the rules at each call.
const rulesOfField = new WeakMap<DescField, contract.FieldRules>();

/** Returns the rules of a field; all unset where neither it nor the field that it is like declares any. */
export function readFieldRules(field: DescField): contract.FieldRules {
  const rules = rulesOfField.get(field) ?? readDeclaredFieldRules(field);
  rulesOfField.set(field, rules);
  return rules;
}

function readDeclaredFieldRules(field: DescField): contract.FieldRules {
  const likeField = hasOption(field, contract.rules) ? undefined : findLikeField(field);
  if (!likeField) return getOption(field, contract.rules);
  const rules = clone(contract.FieldRulesSchema, readFieldRules(likeField));
  if (isPatch(field.parent)) {
    clearField(rules, contract.FieldRulesSchema.field.required);
    clearField(rules, contract.FieldRulesSchema.field.default);
  }
  return rules;
}

/** Finds the field that describes a field too, because its message is declared to be like another. */
export function findLikeField(field: DescField): DescField | undefined {
  const typeName = getOption(field.parent, contract.like);
  if (typeName === '') return undefined;
  const message = messageNamed(field.parent.file, typeName);
  if (!message) throw new Error(`${field.parent.typeName} is like ${typeName}, which its file does not import`);
  return message.fields.find(({ name }) => name === field.name);
}

/** Whether a message is the body of a PATCH: it has an `update_mask` of the fields that are present. */
export const isPatch = (message: DescMessage): boolean => message.fields.some(isMask);

/** Whether a field is the `update_mask` of a PATCH. */
export const isMask = (field: DescField): boolean => field.message?.typeName === 'google.protobuf.FieldMask';

function messageNamed(file: DescFile, typeName: string): DescMessage | undefined {
  const messages = [file, ...file.dependencies].flatMap((one) => one.messages);
  return messages.find((message) => message.typeName === typeName);
}

/** Returns how a field is written in JSON. */
export function readJsonForm(field: DescField): contract.JsonForm {
  return getOption(field, contract.json);
}

/** Returns the REST route of a method, or undefined if the method belongs to the RPC API only. */
export function readRestRule(method: DescMethod): contract.RestRule | undefined {
  const rule = readDeclaredRule(method);
  return rule.path === '' ? undefined : rule;
}

// Cached, because reading an option builds it again, and every call needs these.
const rules = new WeakMap<DescMethod, contract.RestRule>();

function readDeclaredRule(method: DescMethod): contract.RestRule {
  const known = rules.get(method) ?? getOption(method, contract.rest);
  rules.set(method, known);
  return known;
}

/** Returns the access rule of a method; undefined if the contract declares none. No service accepts such a method. */
export function readAccessRule(method: DescMethod): contract.AccessRule['kind'] | undefined {
  if (!accessOfMethod.has(method)) {
    const { kind } = getOption(method, contract.access);
    accessOfMethod.set(method, hasOption(method, contract.access) && kind.case !== undefined ? kind : undefined);
  }
  return accessOfMethod.get(method);
}

const accessOfMethod = new WeakMap<DescMethod, contract.AccessRule['kind'] | undefined>();

/** Returns the services that may call a method which only services may call; none if the contract names none. */
export function serviceCallers(method: DescMethod): readonly string[] {
  return getOption(method, contract.access).callers;
}

/** Returns the audit rule of a method; undefined if the audit log does not record its changes. */
export function readAuditRule(method: DescMethod): contract.AuditRule | undefined {
  return hasOption(method, contract.audit) ? getOption(method, contract.audit) : undefined;
}

/** Returns the full name of the message that a request writes, or an empty string. */
export function readResource(message: DescMessage): string {
  return getOption(message, contract.resource);
}

const spellingsOfEnum = new WeakMap<DescEnum, Map<number, string>>();

/** Returns the JSON spellings of an enum by number, without the unspecified zero. */
export function readSpellings(desc: DescEnum): Map<number, string> {
  const known = spellingsOfEnum.get(desc);
  if (known) return known;
  const spellings = new Map<number, string>();
  for (const value of desc.values) {
    if (value.number === 0) continue;
    spellings.set(value.number, getOption(value, contract.spelling) || camelCase(value.localName));
  }
  spellingsOfEnum.set(desc, spellings);
  return spellings;
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Whether the messages of a method are server-sent events in REST: a stream that never ends by itself. */
export function isEventStream(method: DescMethod): boolean {
  return readRestRule(method)?.eventStream !== undefined;
}

/** Returns the field of a message by its name in the contract. Errors: an Error if there is no such field. */
export function fieldNamed(message: DescMessage, name: string): DescField {
  const field = message.fields.find((candidate) => candidate.name === name);
  if (!field) throw new Error(`${message.typeName} has no field ${name}`);
  return field;
}

/** Whether a method accepts `Idempotency-Key`: a POST or PATCH that changes something each time it is called. */
export function takesIdempotencyKey(method: DescMethod): boolean {
  const verb = readRestRule(method)?.method;
  return (verb === 'POST' || verb === 'PATCH') && method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

/**
 * The largest body of a request whose contract declares no other limit.
 *
 * Source: docs/reference/api.md, Limits of use.
 */
export const defaultMaxBodyBytes = 2 * 1024 * 1024;

/** Returns the largest body of a request of a method, in bytes. */
export function readMaxBodyBytes(method: DescMethod): number {
  return readDeclaredRule(method).maxBodyBytes || defaultMaxBodyBytes;
}
