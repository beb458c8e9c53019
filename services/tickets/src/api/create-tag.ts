import { TagReference, TagType, TagVisibility } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import type { CreateTagRequest, CreateTagResponse } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { DomainError, invalidInput } from '@ticketing/rest/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call.ts';
import type { Context } from './context.ts';

/** Creates a tag. Errors: duplicate_tag, unknown_tag. Source: decisions.md section 9. */
export async function createTag(context: Context, call: Call, request: CreateTagRequest): Promise<CreateTagResponse> {
  const parent = request.parent ?? null;
  if (parent !== null && !(await context.tags.tree()).get(parent)) {
    throw invalidInput([{ pointer: '#/parent', code: 'unknown_tag', detail: `tag ${parent} does not exist` }]);
  }
  const name = (request.name ?? '').trim();
  if (name === '') throw invalidInput([{ pointer: '#/name', code: 'too_short', detail: 'must not be blank' }]);
  const next = () => context.tagIds.next();
  const id = await (call.once ? call.once.reserve('tag', next) : next());
  const outcome = await context.tags.insert({
    id,
    name,
    parent,
    reference: request.reference ?? TagReference.TICKET,
    type: request.type ?? TagType.SKILL,
    visibility: request.visibility ?? TagVisibility.PUBLIC,
    color: request.color ?? null,
    routingRelevant: request.routingRelevant ?? true,
    sla: request.sla ?? null,
    priority: request.priority ?? null,
    keywords: request.detection?.keywords ?? [],
    modifiedAt: context.now(),
  });
  if (outcome === 'name_taken') {
    throw new DomainError('already_exists', 'duplicate_tag', 'A tag of this name exists under the same parent.');
  }
  return { $typeName: 'ticketing.tickets.v1.CreateTagResponse', success: true, id };
}
