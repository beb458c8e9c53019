import type { Template } from '@ticketing/contracts/ticketing/templates/v1/template_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { withoutDeleted } from './drop-deleted.ts';
import type { TemplateState } from './rules.ts';
import { shownTemplate } from './to-proto.ts';

/** Converts a template that a request has just stored. The stored response is erased with the tickets that it names. */
export async function writtenTemplate(context: Context, call: Call, stored: TemplateState): Promise<Template> {
  const state = await withoutDeleted(context, stored);
  for (const id of state.exampleTicketIds) call.idempotency?.addSubject({ kind: 'Ticket', id });
  return shownTemplate(context, state);
}
