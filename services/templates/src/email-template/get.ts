import type {
  GetEmailTemplateRequest,
  GetEmailTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { EmailTemplateParts } from './open.ts';
import { emailTemplateToProto } from './to-proto.ts';

/** Reads an e-mail template. Errors: email_template_not_found. Source: docs/reference/api.md, E-mail templates. */
export async function getEmailTemplate(
  { emailTemplates }: EmailTemplateParts,
  _call: Call,
  { id }: GetEmailTemplateRequest,
): Promise<GetEmailTemplateResponse> {
  const emailTemplate = await emailTemplates.find(id);
  if (!emailTemplate) throw notFound('Email template');
  return {
    $typeName: 'ticketing.templates.v1.GetEmailTemplateResponse',
    emailTemplate: emailTemplateToProto(emailTemplate),
  };
}
