import type { EmailTemplate, Template } from '@ticketing/contracts/ticketing/templates/v1/template_pb.ts';
import type { Attachment } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { attachmentMessages } from '@ticketing/files/attachment-message.ts';
import type { Context } from '../context.ts';
import { mergeTexts, placeholder } from '../rendering/rules/wrapper.ts';
import type { EmailTemplateState, TemplateState } from './rules.ts';

/** The e-mail templates around some templates. */
export interface Wrappers {
  /** The texts of the e-mail templates that exist, by id. */
  byId: ReadonlyMap<number, string>;
  /** The text of the e-mail template around templates that name none. */
  generic: string | undefined;
}

/** Reads the e-mail templates around some templates. Errors: store_unavailable. */
export async function wrappersOf(
  { emailTemplates, settings }: Pick<Context, 'emailTemplates' | 'settings'>,
  templates: readonly Pick<TemplateState, 'emailTemplateId'>[],
): Promise<Wrappers> {
  const { genericTemplateId } = await settings();
  const found = await emailTemplates.findSome(wrapperIds(templates, genericTemplateId));
  const byId = new Map(found.map(({ id, template }) => [id, template]));
  return { byId, generic: genericTemplateId === undefined ? undefined : byId.get(genericTemplateId) };
}

/** The ids of the e-mail templates that some templates name, and of the generic one. */
export function wrapperIds(
  templates: readonly Pick<TemplateState, 'emailTemplateId'>[],
  genericTemplateId: number | undefined,
): number[] {
  const ids = [...templates.map(({ emailTemplateId }) => emailTemplateId), genericTemplateId];
  return [...new Set(ids.filter((id) => id !== null && id !== undefined))];
}

/** The e-mail template around a template; undefined if there is none. */
export function wrapperOf({ byId, generic }: Wrappers, { emailTemplateId }: TemplateState): string | undefined {
  return (emailTemplateId === null ? undefined : byId.get(emailTemplateId)) ?? generic;
}

/** Reads the first e-mail template of a list that exists. Errors: store_unavailable. */
export async function firstEmailTemplate(
  { emailTemplates }: Pick<Context, 'emailTemplates'>,
  ids: readonly number[],
): Promise<EmailTemplateState | undefined> {
  const existing = new Set((await emailTemplates.sizes(ids)).map(({ id }) => id));
  const id = ids.find((one) => existing.has(one));
  return id === undefined ? undefined : emailTemplates.find(id);
}

/** Converts a template. A deleted e-mail template reads as unset. Source: docs/reference/api.md, Templates. */
export function templateMessage(state: TemplateState, wrappers: Wrappers): Template {
  const { id, tagId, emailTemplateId, description, message, subject, exampleTicketIds } = state;
  const template = wrapperOf(wrappers, state) ?? placeholder;
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
export function messageBytes(ofTemplate: number, ofWrapper: number): number {
  return 2 * (ofTemplate + ofWrapper);
}

/** Converts one template, with the current text of its e-mail template. Errors: store_unavailable. */
export async function shownTemplate(context: Context, state: TemplateState): Promise<Template> {
  return templateMessage(state, await wrappersOf(context, [state]));
}

/** Converts an e-mail template. */
export function emailTemplateMessage({ id, name, template }: EmailTemplateState): EmailTemplate {
  return { $typeName: 'ticketing.templates.v1.EmailTemplate', id, name, template };
}
