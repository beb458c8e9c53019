import type {
  CreateEmailTemplateRequest,
  CreateEmailTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { EmailTemplateParts } from './open.ts';
import { emailTemplateToProto } from './to-proto.ts';
import { requireValidEmailTemplate } from './validate.ts';

/**
 * Creates an e-mail template.
 *
 * Errors: duplicate_email_template; those of `requireValidEmailTemplate`. Source: docs/reference/api.md, E-mail templates.
 */
export async function createEmailTemplate(
  parts: EmailTemplateParts,
  call: Call,
  request: CreateEmailTemplateRequest,
): Promise<CreateEmailTemplateResponse> {
  const fields = { name: (request.name ?? '').trim(), template: request.template ?? '' };
  await requireValidEmailTemplate(parts, call, fields);
  const next = () => parts.emailTemplateIds.next();
  const id = call.idempotency ? await call.idempotency.reserve('emailTemplate', next) : await next();
  await parts.emailTemplates.add({ id, ...fields });
  // Reads it again: a process that has died may have created it for the same request.
  const stored = (await parts.emailTemplates.find(id)) ?? { id, ...fields };
  return {
    $typeName: 'ticketing.templates.v1.CreateEmailTemplateResponse',
    emailTemplate: emailTemplateToProto(stored),
  };
}
