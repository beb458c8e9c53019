import type {
  UpdateEmailTemplateRequest,
  UpdateEmailTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { EmailTemplateParts } from './open.ts';
import { emailTemplateToProto } from './to-proto.ts';
import { requireValidEmailTemplate } from './validate.ts';

/**
 * Changes an e-mail template.
 *
 * Errors: email_template_not_found, duplicate_email_template; those of `requireValidEmailTemplate`.
 * Source: docs/reference/api.md, E-mail templates.
 */
export async function updateEmailTemplate(
  parts: EmailTemplateParts,
  call: Call,
  { id, updateMask, name, template }: UpdateEmailTemplateRequest,
): Promise<UpdateEmailTemplateResponse> {
  const paths = updateMask?.paths ?? [];
  const change = {
    ...(paths.includes('name') && name !== undefined ? { name: name.trim() } : {}),
    ...(paths.includes('template') && template !== undefined ? { template } : {}),
  };
  const before = await parts.emailTemplates.find(id);
  if (!before) throw notFound('Email template');
  await requireValidEmailTemplate(parts, call, change);
  const after = Object.keys(change).length === 0 ? before : await parts.emailTemplates.change(id, change);
  if (!after) throw notFound('Email template');
  return {
    $typeName: 'ticketing.templates.v1.UpdateEmailTemplateResponse',
    success: true,
    emailTemplate: emailTemplateToProto(after),
  };
}
