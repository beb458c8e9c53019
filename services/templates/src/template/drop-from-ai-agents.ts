import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { DeletionParts } from './open.ts';

const batchSize = 100;
/** A request that has begun a deletion has ended after this time, or its process has died. */
const requestMs = 60_000;

/** Has AI agents drop a response template that is deleted. Errors: those of the intents service, as ConnectError. */
export async function dropFromAiAgents(
  { aiAgents, deletions }: Pick<DeletionParts, 'aiAgents' | 'deletions'>,
  { trace, signal }: OnBehalfOf,
  templateId: number,
): Promise<void> {
  await aiAgents({ trace, signal }).dropTemplate({ templateId });
  await deletions.finish(templateId);
}

/**
 * Has AI agents drop the deleted response templates that they have not dropped yet: the intents service was unavailable, or a
 * process has died after a deletion. A template that still exists was not deleted in the end.
 *
 * Errors: store_unavailable; those of the intents service, as ConnectError. Source: docs/reference/api.md, Templates.
 */
export async function dropDeletedFromAiAgents(parts: DeletionParts): Promise<void> {
  const { deletions, templates, runtime } = parts;
  const call = { trace: continueTrace(undefined), signal: new AbortController().signal };
  for (;;) {
    const oldest = await deletions.oldest(batchSize);
    const ended = oldest.filter(({ begunAt }) => begunAt < runtime.now() - requestMs);
    const existing = new Set((await templates.findSome(oldest.map(({ id }) => id))).map(({ id }) => id));
    for (const { id } of ended) if (existing.has(id)) await deletions.finish(id);
    const deleted = oldest.filter(({ id }) => !existing.has(id));
    for (const { id } of deleted) await dropFromAiAgents(parts, call, id);
    if (deleted.length < batchSize) return;
  }
}
