import { invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { ifFound } from '@ticketing/service-kit/client/if-found.ts';
import type { SourceParts } from './open.ts';

const atOnce = 20;

/** Requires that tags exist. Errors: unknown_tag; dependency_unavailable. */
export async function requireTags(parts: SourceParts, call: Call, tags: readonly number[]): Promise<void> {
  if (tags.length === 0) return;
  const client = parts.tags(call);
  const violations: Violation[] = [];
  for (let at = 0; at < tags.length; at += atOnce) {
    const checks = tags.slice(at, at + atOnce).map(async (id, index): Promise<Violation[]> => {
      if (await ifFound(client.getTag({ id }))) return [];
      return [{ pointer: `#/tags/${at + index}`, code: 'unknown_tag', detail: `tag ${id} does not exist` }];
    });
    violations.push(...(await Promise.all(checks)).flat());
  }
  if (violations.length > 0) throw invalidInput(violations);
}
