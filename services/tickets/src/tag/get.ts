import type { GetTagRequest, GetTagResponse } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { tagMessages } from './to-proto.ts';

/** Reads one tag. Errors: tag_not_found. Source: docs/reference/api.md, Tags. */
export async function getTag(context: Context, _call: Call, request: GetTagRequest): Promise<GetTagResponse> {
  const [tag] = tagMessages([request.id], await context.tags.tree());
  if (!tag) throw notFound('Tag');
  return { $typeName: 'ticketing.tickets.v1.GetTagResponse', tag };
}
