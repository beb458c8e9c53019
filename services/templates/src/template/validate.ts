import { invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { ifFound } from '@ticketing/service-kit/client/if-found.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { WrapperParts } from '../email-template/wrappers.ts';
import type { TextInput } from '../rendering/open.ts';
import type { TemplateParts } from './open.ts';
import type { TemplateChange } from './rules.ts';

/**
 * Refuses texts that cannot be rendered, and ids of things that do not exist.
 *
 * Errors: the problems of the texts, unknown_tag, unknown_template, unknown_ticket, all at once; those of the tickets
 * service.
 */
export async function requireValidTemplate(
  parts: TemplateParts,
  call: Call,
  { message, subject, tagId, emailTemplateId, exampleTicketIds = [] }: TemplateChange,
): Promise<void> {
  const texts: TextInput[] = [];
  if (message !== undefined) texts.push({ kind: 'message', text: message, pointer: '#/message' });
  if (subject) texts.push({ kind: 'subject', text: subject, pointer: '#/subject' });
  const problems = await Promise.all([
    parts.rendering.findViolations(texts, callerKey(call.caller)),
    tagId ? unknownTag(parts, call, tagId) : [],
    emailTemplateId ? unknownEmailTemplate(parts.wrappers, emailTemplateId) : [],
    unknownTickets(parts, call, exampleTicketIds),
  ]);
  const violations = problems.flat();
  if (violations.length > 0) throw invalidInput(violations);
}

async function unknownTag({ clients }: TemplateParts, call: Call, id: number): Promise<Violation[]> {
  const known = await ifFound(clients.tags(call).getTag({ id }));
  return known ? [] : [{ pointer: '#/tagId', code: 'unknown_tag', detail: 'There is no such tag.' }];
}

/** Returns the violation of an e-mail template that does not exist. Source: docs/reference/api.md, Templates. */
export async function unknownEmailTemplate(
  { emailTemplates }: Pick<WrapperParts, 'emailTemplates'>,
  id: number,
): Promise<Violation[]> {
  const [known] = await emailTemplates.sizes([id]);
  const detail = 'There is no such e-mail template.';
  return known ? [] : [{ pointer: '#/emailTemplateId', code: 'unknown_template', detail }];
}

async function unknownTickets(parts: TemplateParts, call: Call, ids: readonly number[]): Promise<Violation[]> {
  const existing = await existingTickets(parts, call, ids);
  return ids.flatMap((id, index) => {
    const pointer = `#/exampleTicketIds/${index}`;
    return existing.has(id) ? [] : [{ pointer, code: 'unknown_ticket', detail: 'There is no such ticket.' }];
  });
}

/** Returns the given tickets that exist. Tickets with nearby ids are looked up together. */
async function existingTickets({ clients }: TemplateParts, call: Call, ids: readonly number[]): Promise<Set<number>> {
  // Only services may read the versions of tickets, so this service reads them on its own behalf.
  const { trace, signal } = call;
  const snapshots = clients.snapshots({ trace, signal });
  const existing = new Set<number>();
  const waiting = [...ids].sort((left, right) => left - right);
  const limit = 100;
  for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
    const { versions } = await snapshots.listTicketVersions({ afterId: id - 1, limit });
    for (const { ticketId, deleted } of versions) if (!deleted) existing.add(ticketId);
    const seenTo = versions.length < limit ? Number.POSITIVE_INFINITY : (versions.at(-1)?.ticketId ?? id);
    while (waiting[0] !== undefined && waiting[0] <= seenTo) waiting.shift();
  }
  return existing;
}
