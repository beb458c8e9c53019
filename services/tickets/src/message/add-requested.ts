import { create } from '@bufbuild/protobuf';
import {
  type AttachmentInput,
  ContentType,
  DeliveryStatus,
  type MessageContent,
  MessageContentSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import { attachFiles } from '@ticketing/files/attach-files.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import { type NewFiles, newFiles } from '@ticketing/files/new-files.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { answersChat, isMail } from '../rules/sending.ts';
import type { ReadSettings } from '../settings.ts';
import type { TagStore } from '../tag/store.ts';
import type { StoredTicket } from '../ticket/store/document.ts';
import { type TemplateRequest, type TemplateTexts, templateViolations } from '../ticket/template/text.ts';
import type { AddedMessage, MessageWriter, NewMessage } from './add.ts';
import { findMailSender } from './sender.ts';

/** The part of a request that gives the text and the files of a message. */
interface TextRequest extends TemplateRequest {
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

export interface AddRequestedDeps {
  writer: MessageWriter;
  templates: TemplateTexts;
  tags: Pick<TagStore, 'tree'>;
  attachments: FileContext;
  settings: ReadSettings;
}

/** A request for a message: its text, and the message without it. */
interface RequestedMessage {
  request: TextRequest;
  message: MessageWithoutText;
  isDraft: boolean;
}

/**
 * Adds a message with the text and the files that a request gives, or with those of the template that it names.
 *
 * Errors: those of `MessageWriter`, `attachFiles` and `TemplateTexts`.
 */
export async function addRequestedMessage(
  deps: AddRequestedDeps,
  call: Call,
  stored: StoredTicket,
  requested: RequestedMessage,
): Promise<AddedMessage> {
  const { templateId, withEmailTemplate } = requested.request;
  const isRendered = templateId !== undefined || withEmailTemplate;
  const repeated = isRendered ? await deps.writer.findRepeated(call, stored.ticket.id) : undefined;
  if (repeated) return repeated;
  const files = newFiles(deps.attachments, call);
  return files.settle(writeMessage(deps, call, stored, { ...requested, files }));
}

async function writeMessage(
  deps: AddRequestedDeps,
  call: Call,
  stored: StoredTicket,
  { request, message, isDraft, files }: RequestedMessage & { files: NewFiles },
): Promise<AddedMessage> {
  const { id: ticketId } = stored.ticket;
  const own = files.add(await attachFiles(deps.attachments, call, request.attachments));
  const text = await renderText(deps, call, stored, request, { message, isDraft, files: own });
  const attachments = [...own, ...files.add(text.files)];
  const content = { ...message, type: text.type, body: text.body, attachments };
  const added = isDraft
    ? await deps.writer.addDraft(call, ticketId, content)
    : await deps.writer.add(call, ticketId, content, { read: stored });
  if (added.isInserted) files.keep(attachments);
  return added;
}

async function renderText(
  deps: AddRequestedDeps,
  call: Call,
  stored: StoredTicket,
  { content, templateId, templateData, withEmailTemplate = false }: TextRequest,
  { message, isDraft, files }: Omit<RequestedMessage, 'request'> & { files: readonly AttachmentState[] },
): Promise<Pick<NewMessage, 'type' | 'body'> & { files: readonly AttachmentState[] }> {
  const { type = ContentType.TEXT, message: body = '' } = content ?? {};
  const isPlain = templateId === undefined;
  if (isPlain && !withEmailTemplate) return { type, body, files: [] };
  const { intentIds, namedRecipients = [] } = message;
  // A draft without recipients may still get some.
  const isSent = isDraft
    ? !answersChat(stored.ticket, namedRecipients.length > 0)
    : message.deliveryStatus === DeliveryStatus.QUEUED;
  const written = {
    stored,
    tree: await deps.tags.tree(),
    isMail: isMail(stored.ticket.channel, message, { isSent }),
    intentIds,
  };
  if (isPlain) {
    const subchannelId = isSent ? await findMailbox(deps, stored, message) : (message.subchannelId ?? null);
    const around = { ...written, subchannelId, content: create(MessageContentSchema, { type, message: body }) };
    const wrapped = await deps.templates.wrap(call, around);
    return wrapped === undefined ? { type, body, files: [] } : { type: ContentType.HTML, body: wrapped, files: [] };
  }
  const text = await deps.templates.text(call, { ...written, template: { templateId, templateData }, files });
  return { type: ContentType.HTML, body: text.body, files: text.files };
}

/** The mailbox from which a message is to leave, which has an e-mail template. */
async function findMailbox(
  deps: AddRequestedDeps,
  { ticket }: StoredTicket,
  { subchannelId = null }: MessageWithoutText,
): Promise<number | null> {
  const { subchannelId: mailbox = subchannelId } = await findMailSender(deps, [subchannelId, ticket.subchannelId]);
  return mailbox;
}
