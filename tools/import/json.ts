export type JsonObject = Record<string, unknown>;

/** Reads JSON that may be anything; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects in the list `name` of a JSON response; empty if there is no such list. */
export function objectsIn(value: unknown, name: string): JsonObject[] {
  const list = isObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}
