import type { DescMessage, Message } from '@bufbuild/protobuf';

/**
 * The value of the `Deprecation` header (RFC 9745): everything deprecated has been so since the first version.
 */
export const deprecatedSince = '@1767225600';

/** Returns whether a request uses a deprecated field. */
export type UsesDeprecated = (message: Message) => boolean;

/**
 * Compiles the check whether a request uses deprecated fields, at any depth. Undefined if the message has none.
 *
 * Source: docs/reference/api.md, Deprecation.
 */
export function deprecationCheck(message: DescMessage): UsesDeprecated | undefined {
  return compileCheck(message, []);
}

function compileCheck(message: DescMessage, outer: readonly DescMessage[]): UsesDeprecated | undefined {
  const checks = message.fields.flatMap((field): UsesDeprecated[] => {
    const valueIn = (holder: Message) => (holder as unknown as Record<string, unknown>)[field.localName];
    if (field.deprecated) return [(holder) => isGiven(valueIn(holder))];
    if (!field.message || field.fieldKind === 'map' || outer.includes(field.message)) return [];
    const check = compileCheck(field.message, [...outer, message]);
    if (!check) return [];
    return [
      (holder) => {
        const value = valueIn(holder);
        if (Array.isArray(value)) return value.some(check);
        return value !== undefined && check(value as Message);
      },
    ];
  });
  return checks.length === 0 ? undefined : (holder) => checks.some((check) => check(holder));
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}
