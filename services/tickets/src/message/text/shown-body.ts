import { setImmediate } from 'node:timers/promises';
import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { escapeTags } from '@ticketing/html/sanitise-html.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import type { Context } from '../../context.ts';
import type { StoredTicket } from '../../ticket/store/stored-ticket.ts';
import type { ConversationState } from '../rules/fields.ts';
import { bodyRules, unconvertedTexts } from './rules/body-texts.ts';

/** How many characters are escaped before other requests are served. It takes 3 ms at most. */
const charsAtOnce = 65_536;

/**
 * Returns a ticket with texts that were made of its body by the rules of this process or by newer ones. If they had to be
 * made again, they are stored too, which is no change of the ticket.
 *
 * After a write, texts that cannot be made at the moment are those of an unconverted body, because the write cannot be
 * taken back. The stored texts are not shown: older rules may have let through what the newer ones remove.
 *
 * Errors: sandbox_busy, sandbox_crashed, store_unavailable; none of them after a write.
 */
export async function withCurrentTexts(
  context: Context,
  stored: StoredTicket,
  options: TextOptions,
): Promise<StoredTicket> {
  const save = (ticket: StoredTicket['ticket']) => context.tickets.setBodyFields(ticket, options.caller);
  const ticket = await currentTexts(context, stored.ticket, stored.ticket.isBodyText, { ...options, save });
  return ticket === stored.ticket ? stored : { ...stored, ticket };
}

/** Does the same for a message of a ticket. */
export function messageWithCurrentTexts(
  context: Context,
  message: ConversationState,
  options: TextOptions,
): Promise<ConversationState> {
  const save = (current: ConversationState) => context.conversations.setDerived(current);
  return currentTexts(context, message, message.type === ContentType.TEXT, { ...options, save });
}

/** The caller for whom texts are made again, and whether they are for the response to a write. */
interface TextOptions {
  caller: Caller;
  isAfterWrite?: boolean;
}

async function currentTexts<Content extends { body: string | null; bodyRules: number }>(
  { textWork }: Context,
  content: Content,
  isText: boolean,
  { caller, isAfterWrite, save }: TextOptions & { save(content: Content): Promise<void> },
): Promise<Content> {
  const { body, bodyRules: madeBy } = content;
  if (body === null || madeBy >= bodyRules) return content;
  try {
    const current = { ...content, ...(await textWork.bodyFields(body, caller, isText)) };
    await save(current);
    return current;
  } catch (error) {
    if (!isAfterWrite || !(error instanceof DomainError) || error.code !== 'unavailable') throw error;
    return { ...content, ...unconvertedTexts(body) };
  }
}

/** The body of a ticket or a message with current texts, as clients may show it. */
export async function shownBody({
  body,
  bodyHtml,
}: Pick<StoredTicket['ticket'], 'body' | 'bodyHtml'>): Promise<string | undefined> {
  if (body === null) return undefined;
  if (bodyHtml !== null) return bodyHtml;
  if (body.length <= charsAtOnce) return escapeTags(body);
  if (!body.includes('<')) return body;
  const parts: string[] = [];
  for (let at = 0; at < body.length; at += charsAtOnce) {
    parts.push(escapeTags(body.slice(at, at + charsAtOnce), body.charAt(at + charsAtOnce)));
    await setImmediate();
  }
  return parts.join('');
}
