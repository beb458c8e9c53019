import type {
  GetRawMailRequest,
  GetRawMailResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import { countFiles } from '@ticketing/files/file-quota.ts';
import { sendFile } from '@ticketing/files/send-file.ts';
import { storeContent } from '@ticketing/files/store-content.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { sweep } from '@ticketing/store/document/sweep.ts';
import { findConversation } from '../message/checks.ts';
import type { MessageReference } from '../message/external-id-store.ts';
import type { ConversationStore } from '../message/store.ts';
import type { ReadSettings } from '../settings.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { MailCall } from './mail.ts';

export interface RawMailDeps {
  tickets: Pick<TicketStore, 'findMessages'>;
  conversations: ConversationStore;
  settings: ReadSettings;
  attachments: FileContext;
}

/** A raw mail that was stored. */
export type RawMail = Pick<AttachmentState, 'key' | 'size'>;

const contentType = 'message/rfc822';

/**
 * Stores a mail as it was transferred. Call `assignRawMail` before the write by which its message becomes part of a
 * ticket. Returns undefined if raw mails are not kept, or its sender has no room for it.
 */
export async function storeRawMail(
  { attachments, settings }: Pick<RawMailDeps, 'attachments' | 'settings'>,
  { caller, log }: MailCall,
  raw: Uint8Array,
): Promise<RawMail | undefined> {
  if ((await settings()).rawMailDays === 0) return undefined;
  const file = { name: '', size: raw.length, contentType, fileEnding: null, inline: false, width: null, height: null };
  try {
    return await countFiles(attachments, caller, async (take) => {
      await take(raw.length);
      return storeContent(attachments, file, [raw]);
    });
  } catch (error) {
    if (!(error instanceof DomainError) || error.reason !== 'storage_quota') throw error;
    log.warn('a raw mail is not kept, because its sender has stored too many files');
    return undefined;
  }
}

/**
 * Makes a raw mail that of a message. Errors: concurrent_change, if it was removed meanwhile, for example with its ticket.
 */
export async function assignRawMail(
  { files, runtime }: Pick<FileContext, 'files' | 'runtime'>,
  { key, size }: RawMail,
  { ticketId, conversationId }: MessageReference,
): Promise<void> {
  const part = { id: conversationId, size, storedAt: new Date(runtime.now()) };
  if (await files.assignToPart(key, ticketId, part)) return;
  throw new DomainError('aborted', 'concurrent_change', 'The raw mail was removed while it was stored.');
}

/**
 * Sends a received mail as it was transferred, or the part of it that the header `Range` names.
 *
 * Errors: ticket_not_found, conversation_not_found, raw_mail_not_found; range_not_satisfiable.
 * Source: docs/reference/api.md, Incoming mail.
 */
export async function* getRawMail(
  deps: RawMailDeps,
  call: Call,
  { ticketId, conversationId }: GetRawMailRequest,
): AsyncGenerator<GetRawMailResponse> {
  await findConversation(deps, { ticketId, conversationId });
  const file = await deps.attachments.files.findOfPart(conversationId);
  if (!file) throw new DomainError('not_found', 'raw_mail_not_found', 'The raw mail of this message is not kept.');
  const { key, part } = file;
  const mail = { id: key.slice(0, 8), name: `mail-${conversationId}.eml`, size: part.size, contentType, key };
  for await (const body of sendFile(deps.attachments, call, mail)) {
    yield { $typeName: 'ticketing.tickets.v1.GetRawMailResponse', body };
  }
}

/** Reads a raw mail whole. */
export async function readRawMail({ files }: Pick<FileContext, 'files'>, { key, size }: RawMail): Promise<Uint8Array> {
  const mail = new Uint8Array(size);
  let at = 0;
  for await (const piece of files.read(key, { start: 0, end: size })) {
    mail.set(piece, at);
    at += piece.length;
  }
  return mail;
}

const batch = 100;
const dayMs = 24 * 60 * 60 * 1000;

/** Removes the raw mails that were stored before as many days as the settings say. Errors: settings_unavailable. */
export async function removeOldRawMails({
  settings,
  attachments: { files, runtime },
}: Pick<RawMailDeps, 'settings' | 'attachments'>): Promise<void> {
  const { rawMailDays } = await settings('owner');
  const before = new Date(runtime.now() - rawMailDays * dayMs);
  await sweep({ batch, find: (limit) => files.ofPartsBefore(before, limit), settle: (keys) => files.remove(keys) });
}
