import type { Context } from '../context.ts';
import { sourceSubject } from './to-proto.ts';

/** Erases the stored responses about a deleted source, because they contain its text. */
export async function eraseResponses({ sources, idempotency }: Context, id: number): Promise<void> {
  await idempotency.eraseAbout(sourceSubject(id));
  await sources.finishErasure(id);
}

/** Erases the responses that a process left because it died after it had deleted a source. */
export async function erasePendingResponses(context: Context): Promise<void> {
  for (const id of await context.sources.pendingErasures()) await eraseResponses(context, id);
}
