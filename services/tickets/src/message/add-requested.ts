import { create } from '@bufbuild/protobuf';
import {
  type AttachmentInput,
  ContentType,
  type MessageContent,
  MessageContentSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import { attachFiles } from '@ticketing/files/attach-files.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { writeWithFiles } from '@ticketing/files/write-with-files.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import type { StoredTicket } from '../ticket/store/stored-ticket.ts';
import { type TemplateRequest, templateText, templateViolations, wrappedText } from '../ticket/template/text.ts';
import { type AddedMessage, type addMessage, findRepeated, type NewMessage } from './add.ts';

/** The part of a request that gives the text and the files of a message. */
export interface TextRequest extends TemplateRequest {
  content?: Pick<MessageContent, 'message' | 'type'> | undefined;
  attachments: readonly AttachmentInput[];
  /** Whether the e-mail template of the ticket is rendered around `content`. */
  withEmailTemplate?: boolean | undefined;
}

/** A message without its text and its files. */
export type MessageWithoutText = Omit<NewMessage, 'type' | 'body' | 'attachments'>;

/** The violations in the text of a request: it must have one, or a template. */
export function textViolations(request: TextRequest): Violation[] {
  const { content, templateId } = request;
  const isMissing = content === undefined && templateId === undefined;
  const missing = { pointer: '#/content', code: 'required', detail: 'is required without a template' };
  return [...(isMissing ? [missing] : []), ...templateViolations(request)];
}

/**
 * Adds a message with the text and the files that a request gives, or with those of the template that it names.
 *
 * Errors: those of `add`, `attachFiles` and `templateText`.
 */
export async function addRequestedMessage(
  context: Context,
  call: Call,
  stored: StoredTicket,
  { request, message, add }: { request: TextRequest; message: MessageWithoutText; add: typeof addMessage },
): Promise<AddedMessage> {
  const { id: ticketId } = stored.ticket;
  const isRendered = request.templateId !== undefined || request.withEmailTemplate;
  const repeated = isRendered ? await findRepeated(context, call, ticketId) : undefined;
  if (repeated) return repeated;
  const files = await attachFiles(context, call, request.attachments);
  return writeWithFiles(
    context,
    call,
    files,
    async () => {
      const text = await textOf(context, call, stored, request, { message, files });
      files.push(...text.files);
      const { type, body } = text;
      return add(context, call, ticketId, { ...message, type, body, attachments: files }, { read: stored });
    },
    ({ isInserted }) => (isInserted ? files : []),
  );
}

async function textOf(
  context: Context,
  call: Call,
  stored: StoredTicket,
  { content, templateId, templateData, withEmailTemplate = false }: TextRequest,
  { message, files }: { message: MessageWithoutText; files: readonly AttachmentState[] },
): Promise<Pick<NewMessage, 'type' | 'body'> & { files: readonly AttachmentState[] }> {
  const { type = ContentType.TEXT, message: body = '' } = content ?? {};
  const isPlain = templateId === undefined;
  if (isPlain && !withEmailTemplate) return { type, body, files: [] };
  const { direction, private: isPrivate = false, subchannelId = null, intentIds } = message;
  const written = { stored, tree: await context.tags.tree(), direction, private: isPrivate, intentIds };
  if (isPlain) {
    const around = { ...written, subchannelId, content: create(MessageContentSchema, { type, message: body }) };
    const wrapped = await wrappedText(context, call, around);
    return wrapped === undefined ? { type, body, files: [] } : { type: ContentType.HTML, body: wrapped, files: [] };
  }
  const text = await templateText(context, call, { ...written, template: { templateId, templateData }, files });
  return { type: ContentType.HTML, body: text.body, files: text.files };
}
