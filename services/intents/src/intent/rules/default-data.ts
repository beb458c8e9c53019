import type { JsonObject, JsonValue } from '@bufbuild/protobuf';

/**
 * The data that an intent has from the beginning: the defaults of the properties of its JSON Schema; null without any.
 *
 * Source: docs/reference/api.md, Intents and AI agents.
 */
export function defaultData(schema: JsonObject | null): JsonObject | null {
  const properties = schema?.properties;
  if (!isObject(properties)) return null;
  const defaults = Object.entries(properties).flatMap(([name, part]): [string, JsonValue][] =>
    isObject(part) && part.default !== undefined ? [[name, part.default]] : [],
  );
  return defaults.length === 0 ? null : Object.fromEntries(defaults);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
