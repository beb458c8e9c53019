import type { JsonValue } from '@bufbuild/protobuf';

/** How many values a JSON value holds, itself and those in each other included. */
export function jsonValues(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 1;
  let values = 1;
  for (const part of Object.values(value)) values += jsonValues(part);
  return values;
}
