import { clone, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { readJsonForm } from './options.ts';

/**
 * Returns a response without the fields that are shown only once, at any depth. A response without such fields is returned
 * itself, any other is copied.
 *
 * Errors: an Error if a field of the contract is shown once although it cannot be unset.
 * Source: docs/reference/api.md, Idempotency keys.
 */
export function withoutShownOnce(desc: DescMessage, response: Message): Message {
  if (!mayContainShownOnce(desc)) return response;
  const copy = clone(desc, response);
  clearShownOnce(reflect(desc, copy));
  return copy;
}

const known = new WeakMap<DescMessage, boolean>();

function mayContainShownOnce(desc: DescMessage, seen = new Set<DescMessage>()): boolean {
  const before = known.get(desc);
  if (before !== undefined) return before;
  seen.add(desc);
  const isFound = desc.fields.some((field) => {
    if (isShownOnce(field)) return true;
    return field.message !== undefined && !seen.has(field.message) && mayContainShownOnce(field.message, seen);
  });
  // The answer for an inner message is unknown while the outer one is being searched.
  if (isFound || seen.values().next().value === desc) known.set(desc, isFound);
  return isFound;
}

function isShownOnce(field: DescField): boolean {
  if (!readJsonForm(field).shownOnce) return false;
  const canBeUnset = (field.fieldKind === 'scalar' || field.fieldKind === 'message') && field.proto.proto3Optional;
  if (!canBeUnset) throw new Error(`${field.toString()} is shown once, so it must be optional`);
  return true;
}

function clearShownOnce(message: ReflectMessage): void {
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    if (isShownOnce(field)) message.clear(field);
    else if (field.fieldKind === 'message') clearShownOnce(message.get(field));
    else if (field.fieldKind === 'list' && field.listKind === 'message') {
      for (const item of message.get(field)) clearShownOnce(item as ReflectMessage);
    } else if (field.fieldKind === 'map' && field.mapKind === 'message') {
      for (const item of message.get(field).values()) clearShownOnce(item as ReflectMessage);
    }
  }
}
