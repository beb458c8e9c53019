import type {
  UpdateEmailTemplateRequest,
  UpdateEmailTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { emailTemplateMessage } from '../template/to-proto.ts';
import { requireValidEmailTemplate } from './validate.ts';

/**
 * Changes an e-mail template.
 *
 * Errors: email_template_not_found, duplicate_email_template; those of `requireValidEmailTemplate`.
 * Source: docs/reference/api.md, E-mail templates.
 */
export async function updateEmailTemplate(
  context: Context,
  call: Call,
  { id, updateMask, name, template }: UpdateEmailTemplateRequest,
): Promise<UpdateEmailTemplateResponse> {
  const paths = updateMask?.paths ?? [];
  const change = {
    ...(paths.includes('name') && name !== undefined ? { name: name.trim() } : {}),
    ...(paths.includes('template') && template !== undefined ? { template } : {}),
  };
  const known = await context.emailTemplates.find(id);
  if (!known) throw notFound('Email template');
  await requireValidEmailTemplate(context, call, change);
  const changed = Object.keys(change).length === 0 ? known : await context.emailTemplates.change(id, change);
  if (!changed) throw notFound('Email template');
  return {
    $typeName: 'ticketing.templates.v1.UpdateEmailTemplateResponse',
    success: true,
    emailTemplate: emailTemplateMessage(changed),
  };
}
