import { type DescField, type DescMessage, isMessage, type Message } from '@bufbuild/protobuf';
import { FieldMaskSchema } from '@bufbuild/protobuf/wkt';
import { fieldNamed, readSpellings } from '@ticketing/rest/codec/options.ts';

/** Returns the value of a field of a message, the items of a list, or nothing. */
export function readParts(message: unknown, field: string): unknown {
  const value: unknown = typeof message === 'object' && message !== null ? Reflect.get(message, field) : undefined;
  return value ?? [];
}

/**
 * Reads the names of the fields that a request sets, of those that it has, each once: a mask may repeat one without end. The
 * field by whose value a request deletes is named with this value.
 */
export function fieldReader(message: DescMessage, deletesBy: string): (request: Message) => string[] {
  const mask = message.fields.find((field) => field.message?.typeName === 'google.protobuf.FieldMask');
  const names = new Set(message.fields.map(({ name }) => name));
  if (!mask) return () => [];
  const deleting = deletesBy === '' ? undefined : valueIn(message, deletesBy);
  return (request) => {
    const value = readParts(request, mask.localName);
    const paths = isMessage(value, FieldMaskSchema) ? [...new Set(value.paths)].filter((path) => names.has(path)) : [];
    const deletes = deleting !== undefined && readParts(request, deleting.field.localName) === deleting.value;
    return paths.map((path) => (deletes && path === deleting.field.name ? deletesBy : path));
  };
}

/**
 * Returns the field and the number of the value in a text such as "status=deleted". Errors: there is no such field or
 * value.
 */
export function valueIn(message: DescMessage, text: string): { field: DescField; value: number } {
  const [name = '', spelling] = text.split('=');
  const field = fieldNamed(message, name);
  const [value] = [...(field.enum ? readSpellings(field.enum) : [])].find(([, known]) => known === spelling) ?? [];
  if (value === undefined) throw new Error(`${message.typeName} has no ${text}`);
  return { field, value };
}
