import type {
  PreviewTemplateRequest,
  PreviewTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { invalidInput, notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { ifFound } from '@ticketing/service-kit/client/if-found.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { PreviewParts } from './open.ts';
import { unknownEmailTemplate } from './validate.ts';

/**
 * Renders a text with the values of a ticket. Nothing is stored.
 *
 * Errors: ticket_not_found, unknown_template; those of `Rendering.render`; too_much_at_once, for a large ticket.
 * Source: docs/reference/api.md, Templates.
 */
export async function previewTemplate(
  parts: PreviewParts,
  call: Call,
  { message = '', ticketId, contractId, emailTemplateId, templateData = {} }: PreviewTemplateRequest,
): Promise<PreviewTemplateResponse> {
  const ids = { ...(ticketId === undefined ? {} : { ticketId }), ...(contractId === undefined ? {} : { contractId }) };
  const [wrapper, response] = await Promise.all([
    readWrapper(parts, emailTemplateId),
    ifFound(parts.tickets(call).getTemplateVariables(ids)),
  ]);
  if (!response) throw notFound('Ticket');
  const { variables } = response;
  const caller = callerKey(call.caller);
  await parts.pages.take(caller, variables.length, call);
  const more = { in: templateData };
  const input = { message, wrapper, variables, more, pointer: '#/message' };
  const { message: preview } = await parts.rendering.render(input, caller);
  // Last, because the bytes of large values can be read once only.
  const { json } = await parts.json.parse(caller, variables);
  return {
    $typeName: 'ticketing.templates.v1.PreviewTemplateResponse',
    success: true,
    preview,
    variables: { ...(json as object), ...more },
  };
}

async function readWrapper(parts: PreviewParts, emailTemplateId: number | undefined): Promise<string | undefined> {
  if (emailTemplateId === undefined) return undefined;
  const wrapper = await parts.wrappers.emailTemplates.find(emailTemplateId);
  if (!wrapper) throw invalidInput(await unknownEmailTemplate(parts.wrappers, emailTemplateId));
  return wrapper.template;
}
