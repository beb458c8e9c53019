import type { Client } from '@connectrpc/connect';
import { TagReference } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import type { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { CandidateTag } from './provider.ts';

/** The maximum age of the list of tags. A tag that is deleted meanwhile is left out when the result is applied. */
const maxAgeMs = 5_000;
const pageSize = 1000;

/** Reads the enabled tags of tickets, at most every 5 seconds. Errors: those of the tickets service. */
export function openDetectableTags(
  client: (call: OnBehalfOf) => Pick<Client<typeof TagService>, 'listTags'>,
  now: () => number,
): (call: OnBehalfOf) => Promise<readonly CandidateTag[]> {
  let last: { tags: readonly CandidateTag[]; readAt: number } | undefined;
  return async ({ trace, signal }) => {
    const readAt = now();
    if (last && readAt - last.readAt < maxAgeMs) return last.tags;
    const tags = await readTags(client({ trace, signal }));
    last = { tags, readAt };
    return tags;
  };
}

async function readTags(client: Pick<Client<typeof TagService>, 'listTags'>): Promise<CandidateTag[]> {
  const found: CandidateTag[] = [];
  for (let offset = 0; ; offset += pageSize) {
    const { tags } = await client.listTags({ limit: pageSize, offset });
    for (const { id, fullName: name, reference, detection } of tags) {
      if (reference === TagReference.TICKET) found.push({ id, name, keywords: detection?.keywords ?? [] });
    }
    if (tags.length < pageSize) return found;
  }
}
