/**
 * Returns the address of an operation: its path with the values of its parameters, and its query.
 *
 * Shape: a list of texts or numbers becomes a repeated parameter (`types=a&types=b`), a list of objects one with brackets
 * (`filters[0][key]=a`). Parameters that are undefined are left out.
 * Errors: a TypeError for a parameter of the path that is missing or empty.
 */
export function requestUrl(
  baseUrl: string,
  path: string,
  parameters: Readonly<Record<string, unknown>> = {},
  query: Readonly<Record<string, unknown>> = {},
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name];
    if (value === undefined || value === null || value === '') throw new TypeError(`The path needs "${name}".`);
    return encodeURIComponent(String(value));
  });
  const search = new URLSearchParams(Object.entries(query).flatMap(([name, value]) => pairs(name, value))).toString();
  return `${baseUrl.replace(/\/+$/, '')}${filled}${search === '' ? '' : `?${search}`}`;
}

function pairs(name: string, value: unknown): [string, string][] {
  if (value === undefined) return [];
  if (Array.isArray(value)) {
    const isPlain = value.every((element) => typeof element !== 'object');
    return value.flatMap((element, index) => pairs(isPlain ? name : `${name}[${index}]`, element));
  }
  if (typeof value !== 'object' || value === null) return [[name, String(value)]];
  return Object.entries(value).flatMap(([key, member]) =>
    Array.isArray(member)
      ? member.map((element): [string, string] => [`${name}[${key}][]`, String(element)])
      : pairs(`${name}[${key}]`, member),
  );
}
