import type {
  DeleteEmailTemplateRequest,
  DeleteEmailTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { EmailTemplateParts } from './open.ts';

/**
 * Deletes an e-mail template. Settings drops it first, so that nothing is changed if that is not possible.
 *
 * Errors: email_template_not_found; those of the settings service. Source: docs/reference/api.md, E-mail templates.
 */
export async function deleteEmailTemplate(
  parts: EmailTemplateParts,
  call: Call,
  request: DeleteEmailTemplateRequest,
): Promise<DeleteEmailTemplateResponse> {
  const { configuration, emailTemplates } = parts;
  const { trace, signal } = call;
  if (!(await emailTemplates.find(request.id))) throw notFound('Email template');
  await configuration({ trace, signal }).dropEmailTemplate({ emailTemplateId: request.id });
  return removeEmailTemplate(parts, call, request);
}

/** Deletes an e-mail template that settings has dropped, or drops by itself. Errors: email_template_not_found. */
export async function removeEmailTemplate(
  { emailTemplates, dropFromTemplates }: EmailTemplateParts,
  _call: Call,
  { id }: DeleteEmailTemplateRequest,
): Promise<DeleteEmailTemplateResponse> {
  if (!(await emailTemplates.remove(id))) throw notFound('Email template');
  // Templates saved concurrently with the deleted id read it as unset.
  await dropFromTemplates(id);
  return { $typeName: 'ticketing.templates.v1.DeleteEmailTemplateResponse', success: true };
}
