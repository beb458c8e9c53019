import type { Client } from '@connectrpc/connect';
import { TagReference } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import type { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { CandidateTag } from './provider.ts';

/** The maximum age of the list of tags. A tag that is deleted meanwhile is left out when the result is applied. */
const maxAgeMs = 5_000;
const pageSize = 1000;

/** The client that lists tags. */
export interface TagLists {
  tagLists(call: OnBehalfOf): Pick<Client<typeof TagService>, 'listTags'>;
}

/** Reads the enabled tags of tickets, at most every 5 seconds. Errors: those of the tickets service. */
export function openDetectableTags(
  { tagLists }: TagLists,
  now: () => number,
): (call: OnBehalfOf) => Promise<readonly CandidateTag[]> {
  let last: { tags: readonly CandidateTag[]; readAt: number } | undefined;
  return async ({ trace, signal }) => {
    const readAt = now();
    if (last && readAt - last.readAt < maxAgeMs) return last.tags;
    const tags = await readTags(tagLists({ trace, signal }));
    last = { tags, readAt };
    return tags;
  };
}

async function readTags(client: ReturnType<TagLists['tagLists']>): Promise<CandidateTag[]> {
  const candidates: CandidateTag[] = [];
  for (let offset = 0; ; offset += pageSize) {
    const { tags } = await client.listTags({ limit: pageSize, offset });
    for (const { id, fullName: name, reference, detection } of tags) {
      if (reference === TagReference.TICKET) candidates.push({ id, name, keywords: detection?.keywords ?? [] });
    }
    if (tags.length < pageSize) return candidates;
  }
}
