import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { callerKey, serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { MessageWriter } from '../message/add.ts';
import type { MessageReference } from '../message/external-id-store.ts';
import type { DeliveryFailure, FailureReason } from '../message/rules/delivery-report.ts';
import type { ReadSettings } from '../settings.ts';
import { ignoreDeleted } from '../ticket/commit.ts';

interface NoteDeps {
  writer: Pick<MessageWriter, 'add'>;
  conversationIds: Pick<IdSequence, 'next'>;
  settings: ReadSettings;
}

/** Notes a failure of a message in its ticket. `mayOpen`: whether it may open the ticket. */
export type NoteFailure = (
  message: MessageReference,
  failure: DeliveryFailure,
  options: { mayOpen: boolean },
) => Promise<{ hasOpened: boolean }>;

/**
 * Notes a failure of a message in its ticket: by a private note with recipients and reason, an event
 * `conversation.failed`, and, if it may, by opening the ticket. A failure is noted once, also after a crash. Returns
 * whether it has opened the ticket, or may have: an earlier process that noted it does not say so.
 *
 * Errors: those of `MessageWriter.add`, but for a deleted ticket. Source: docs/reference/api.md, Delivery reports.
 */
export async function noteFailure(
  { writer, conversationIds, settings }: NoteDeps,
  { ticketId, conversationId }: MessageReference,
  failure: DeliveryFailure,
  { mayOpen }: { mayOpen: boolean },
): Promise<{ hasOpened: boolean }> {
  const { reopenOnDeliveryFailure } = await settings();
  const caller = serviceCaller('tickets');
  const idempotency = {
    id: failure.id,
    reserve: () => conversationIds.next(),
    reserved: () => undefined,
    addSubject: () => undefined,
  };
  const note = {
    ...{ direction: Direction.INTERNAL, private: true, type: ContentType.TEXT, body: noteText(failure.reasons) },
    ...{ authorKey: callerKey(caller), isAutomatic: true },
  };
  const call = { caller, trace: continueTrace(undefined), idempotency };
  const opens = mayOpen && reopenOnDeliveryFailure;
  const added = await writer.add(call, ticketId, note, { failed: { conversationId, opens } }).catch(ignoreDeleted);
  return { hasOpened: added ? opens && added.hasOpened !== false : false };
}

const maxNamed = 20;

/** Names the recipients by reason, one line each. */
function noteText(reasons: readonly FailureReason[]): string {
  const byReason = new Map<string, string[]>();
  for (const { code, text, recipient } of reasons) {
    const shown = (code === null || text.includes(code) ? text : `${code} ${text}`.trim()) || 'no reason was given';
    byReason.set(shown, [...(byReason.get(shown) ?? []), ...(recipient === null ? [] : [recipient])]);
  }
  const lines = [...byReason].slice(0, maxNamed).map(([reason, recipients]) => {
    const others = recipients.length > maxNamed ? ` and ${recipients.length - maxNamed} others` : '';
    const to = recipients.length > 0 ? ` to ${recipients.slice(0, maxNamed).join(', ')}${others}` : '';
    return `A message was not delivered${to}: ${reason}`;
  });
  return lines.join('\n');
}
