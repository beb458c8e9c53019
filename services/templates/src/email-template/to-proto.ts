import type { EmailTemplate } from '@ticketing/contracts/ticketing/templates/v1/template_pb.ts';
import type { EmailTemplateState } from './rules.ts';

/** Converts an e-mail template. */
export function emailTemplateToProto({ id, name, template }: EmailTemplateState): EmailTemplate {
  return { $typeName: 'ticketing.templates.v1.EmailTemplate', id, name, template };
}
