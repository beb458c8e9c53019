import type { Tag } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import { timestampOf } from '@ticketing/rest/date-time.ts';
import type { TagState, TagTree } from '../domain/tag-tree.ts';

/** The message of a tag. */
function tagMessage(tag: TagState, tree: TagTree): Tag {
  return {
    $typeName: 'ticketing.tickets.v1.Tag',
    id: tag.id,
    name: tag.name,
    fullName: tree.fullName(tag),
    ...(tag.parent === null ? {} : { parent: tag.parent }),
    reference: tag.reference,
    type: tag.type,
    visibility: tag.visibility,
    ...(tag.color === null ? {} : { color: tag.color }),
    routingRelevant: tag.routingRelevant,
    ...(tag.sla === null ? {} : { sla: tag.sla }),
    ...(tag.priority === null ? {} : { priority: tag.priority }),
    detection: { $typeName: 'ticketing.tickets.v1.TagDetection', keywords: [...tag.keywords] },
    modifiedAt: timestampOf(tag.modifiedAt),
  };
}

const messages = new WeakMap<TagTree, Map<number, Tag>>();

/** The messages of the tags with the given ids, made once for each state of the tree; unknown ids are passed over. */
export function tagMessages(ids: readonly number[], tree: TagTree): Tag[] {
  const known = messages.get(tree) ?? new Map<number, Tag>();
  messages.set(tree, known);
  return ids.flatMap((id) => {
    const tag = tree.get(id);
    if (!tag) return [];
    const message = known.get(id) ?? tagMessage(tag, tree);
    known.set(id, message);
    return [message];
  });
}
