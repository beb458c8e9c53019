import type { Template } from '@ticketing/contracts/ticketing/templates/v1/template_pb.ts';
import type { Attachment } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { attachmentMessages } from '@ticketing/files/attachment-message.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { findWrapperText, readWrappers, type Wrappers } from '../email-template/wrappers.ts';
import { mergeTexts, placeholder } from '../rendering/rules/wrapper.ts';
import { withoutDeleted } from './drop-deleted.ts';
import type { TemplateParts } from './open.ts';
import type { TemplateState } from './rules.ts';

/** Converts a template. A deleted e-mail template reads as unset. Source: docs/reference/api.md, Templates. */
export function templateToProto(state: TemplateState, wrappers: Wrappers): Template {
  const { id, tagId, emailTemplateId, description, message, subject, exampleTicketIds } = state;
  const template = findWrapperText(wrappers, state) ?? placeholder;
  return {
    $typeName: 'ticketing.templates.v1.Template',
    id,
    ...(tagId === null ? {} : { tagId }),
    ...(emailTemplateId === null || !wrappers.byId.has(emailTemplateId) ? {} : { emailTemplateId }),
    description,
    message,
    ...(subject === null ? {} : { subject }),
    exampleTicketIds: [...exampleTicketIds],
    attachments: templateFiles(state),
    mergedTemplate: mergeTexts(template, message),
    template,
    success: true,
  };
}

/** Converts the files of a template. */
export function templateFiles({ id, attachments }: Pick<TemplateState, 'id' | 'attachments'>): Attachment[] {
  return attachmentMessages(`/template/${id}`, attachments);
}

/** Returns the bytes of a template in a response, which has its texts and its e-mail template twice. */
export function responseBytes(ofTemplate: number, ofWrapper: number): number {
  return 2 * (ofTemplate + ofWrapper);
}

/** Converts a template that a request has just stored. The stored response is erased with the tickets that it names. */
export async function storedTemplateToProto(
  parts: TemplateParts,
  call: Call,
  stored: TemplateState,
): Promise<Template> {
  const state = await withoutDeleted(parts, stored);
  for (const id of state.exampleTicketIds) call.idempotency?.addSubject({ kind: 'Ticket', id });
  return templateToProto(state, await readWrappers(parts.wrappers, [state]));
}
