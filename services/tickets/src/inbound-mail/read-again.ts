import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import type {
  ReadMailAgainRequest,
  ReadMailAgainResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import { claimFiles, releaseFiles, removeFiles } from '@ticketing/files/attach-files.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { newFiles } from '@ticketing/files/new-files.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { eventHeaderFor } from '../event-header.ts';
import { findConversation } from '../message/checks.ts';
import type { MessageReference } from '../message/external-id-store.ts';
import { decideChangedMessage } from '../message/rules/decision.ts';
import type { RefreshesWords } from '../message/words.ts';
import type { TextWork } from '../text/work.ts';
import type { Commit } from '../ticket/commit.ts';
import type { TicketInput } from '../ticket/rules/fields.ts';
import { ticketSubject } from '../ticket/store/document.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { MailFile, ParsedMail } from './mail.ts';
import { type RawMailDeps, readRawMail } from './raw-mail.ts';
import type { MailReader } from './reader.ts';
import { attachMailFiles, readMail } from './to-ticket.ts';

interface ReadAgainDeps extends RawMailDeps, RefreshesWords {
  tickets: Pick<TicketStore, 'findMessages' | 'outdateWords'>;
  mailReader: Pick<MailReader, 'read'>;
  textWork: Pick<TextWork, 'bodyFields'>;
  commit: Commit;
}

/** The text of a mail, and the texts that are made of it. */
type MailTexts = Pick<ParsedMail, 'subject' | 'fromName' | 'isHtml'> & { body: string } & Awaited<
    ReturnType<TextWork['bodyFields']>
  >;

/** The texts and files that replace those of a message. */
interface Replacement {
  texts: MailTexts;
  attachments: readonly AttachmentState[];
  /** Is called when a message lists the new files. */
  onListed(): void;
}

/**
 * Reads a received mail again, by the rules of this version, and replaces the text and the files of its message. The
 * ticket gets one version and one event by it, and nothing else of it changes: people may have changed its subject.
 *
 * If the process dies before the event is stored, a message that is not the first one of its ticket may have its new text
 * already; the request is then to be sent again.
 * Errors: conversation_not_found; raw_mail_gone; invalid_mail, mail_too_large; storage_quota; sandbox_busy,
 * sandbox_crashed, concurrent_change. Source: docs/reference/api.md, Incoming mail.
 */
export async function readMailAgain(
  deps: ReadAgainDeps,
  call: Call,
  { conversationId }: ReadMailAgainRequest,
): Promise<ReadMailAgainResponse> {
  const file = await deps.attachments.files.findOfPart(conversationId);
  if (!file) throw new DomainError('failed_precondition', 'raw_mail_gone', 'The raw mail of this message is not kept.');
  const { ownerId: ticketId, key, part } = file;
  call.idempotency?.addSubject(ticketSubject(ticketId));
  const message = { ticketId, conversationId };
  const raw = await readRawMail(deps.attachments, { key, size: part.size });
  const { files: mailFiles, ...mail } = await readMail(deps, { sender: callerKey(call.caller), raw });
  const body = mail.body ?? '';
  const derived = await deps.textWork.bodyFields(body, call.caller, !mail.isHtml);
  const { subject, fromName, isHtml } = mail;
  await replaceMessage(deps, call, message, { texts: { subject, fromName, isHtml, body, ...derived }, mailFiles });
  await deps.refreshWords(ticketId, call.caller);
  return { $typeName: 'ticketing.tickets.v1.ReadMailAgainResponse', ticketId };
}

async function replaceMessage(
  deps: ReadAgainDeps,
  call: Call,
  message: MessageReference,
  { texts, mailFiles }: { texts: MailTexts; mailFiles: readonly MailFile[] },
): Promise<void> {
  const files = newFiles(deps.attachments, call);
  const replace = async () => {
    const attachments = await attachMailFiles(deps.attachments, call, mailFiles, files);
    await claimFiles(deps.attachments, message.ticketId, attachments);
    const onListed = () => files.keep(attachments);
    const dropped = await replaceTexts(deps, call, message, { texts, attachments, onListed });
    await removeFiles(deps.attachments, dropped);
  };
  await files.settle(replace());
}

/** Returns the files that the message lists no longer. */
async function replaceTexts(
  deps: ReadAgainDeps,
  call: Call,
  message: MessageReference,
  replacement: Replacement,
): Promise<readonly AttachmentState[]> {
  const { ticketId, conversationId } = message;
  const { runtime } = deps.attachments;
  const header = () => eventHeaderFor({ runtime }, call);
  const { stored, messages } = await findConversation(deps, message);
  if (stored) {
    await deps.tickets.outdateWords(ticketId);
    const dropped = await replaceStored(deps, message, replacement);
    replacement.onListed();
    await deps.commit({
      ticketId,
      decide: ({ ticket }) =>
        decideChangedMessage(ticket, conversationId, { now: secondsNow(runtime), header: header() }),
    });
    return dropped;
  }
  await releaseFiles(deps.attachments, messages.attachments);
  let dropped: readonly AttachmentState[] = [];
  await deps.commit({
    ticketId,
    decide({ ticket }) {
      if (ticket.openingMessageId !== conversationId) throw notFound('Conversation');
      dropped = ticket.attachments;
      const context = { now: secondsNow(runtime), header: header(), input: toTicketInput(replacement) };
      return decideChangedMessage(ticket, conversationId, context);
    },
  });
  replacement.onListed();
  return dropped;
}

/** Replaces the text and the files of a message that is stored apart from its ticket. */
function replaceStored(
  deps: ReadAgainDeps,
  message: MessageReference,
  { texts: { isHtml, ...texts }, attachments }: Replacement,
): Promise<readonly AttachmentState[]> {
  const { runtime } = deps.attachments;
  return retryOnConflict(runtime, 'The message is being changed too often.', async () => {
    const { stored } = await findConversation(deps, message);
    if (!stored) throw notFound('Conversation');
    const dropped = stored.conversation.attachments;
    await releaseFiles(deps.attachments, dropped);
    const type = isHtml ? ContentType.HTML : ContentType.TEXT;
    const set = { ...texts, type, attachments, modifiedAt: secondsNow(runtime) };
    return (await deps.conversations.update(stored, { set })) ? dropped : conflict;
  });
}

function toTicketInput({ texts, attachments }: Replacement): TicketInput {
  const { body, bodyHtml, bodyPlain, bodyClean, bodyRules, isHtml } = texts;
  return { body, bodyHtml, bodyPlain, bodyClean, bodyRules, isBodyText: !isHtml, attachments };
}
