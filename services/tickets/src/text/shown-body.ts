import { setImmediate } from 'node:timers/promises';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { escapeTags } from '@ticketing/html/sanitise-html.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { bodyRules, unconvertedTexts } from './rules/body-texts.ts';
import { withImagePaths } from './rules/content-urls.ts';
import type { TextWork } from './work.ts';

/** How many characters are escaped before other requests are served. It takes 3 ms at most. */
const charsAtOnce = 65_536;

/** The caller for whom texts are made again, and whether they are for the response to a write. */
export interface TextOptions {
  caller: Caller;
  isAfterWrite?: boolean;
}

/**
 * Returns a ticket or a message with texts that were made of its body by the rules of this process or by newer ones. If
 * they had to be made again, `save` stores them, which is no change of the ticket. `isText`: the body is no HTML.
 *
 * After a write, texts that cannot be made at the moment are those of an unconverted body, because the write cannot be
 * taken back. The stored texts are not shown: older rules may have let through what the newer ones remove.
 *
 * Errors: sandbox_busy, sandbox_crashed, store_unavailable; none of them after a write.
 */
export async function withCurrentTexts<Content extends { body: string | null; bodyRules: number }>(
  textWork: TextWork,
  content: Content,
  { isText, caller, isAfterWrite }: TextOptions & { isText: boolean },
  save: (content: Content) => Promise<void>,
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

/** The body of a ticket or a message with current texts, and the files that came with it. */
interface ShownContent {
  body: string | null;
  bodyHtml: string | null;
  attachments: readonly AttachmentState[];
}

/** The body of a ticket or a message, as clients may show it. */
export async function shownBody(
  { body, bodyHtml, attachments }: ShownContent,
  ticketId: number,
): Promise<string | undefined> {
  if (body === null) return undefined;
  if (bodyHtml !== null) return withImagePaths(bodyHtml, { ticketId, attachments });
  if (body.length <= charsAtOnce) return escapeTags(body);
  if (!body.includes('<')) return body;
  const parts: string[] = [];
  for (let at = 0; at < body.length; at += charsAtOnce) {
    parts.push(escapeTags(body.slice(at, at + charsAtOnce), body.charAt(at + charsAtOnce)));
    await setImmediate();
  }
  return parts.join('');
}
