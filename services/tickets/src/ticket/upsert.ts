import { DomainError } from '@ticketing/errors/domain-error.ts';
import { claimFiles } from '@ticketing/files/attach-files.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { tooManyFiles } from '@ticketing/files/file-errors.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { Context } from '../context.ts';
import { eventHeaderOf } from './event-header.ts';
import { prepareTicket, storeTicket, type WriteText } from './insert.ts';
import { readSlaRules } from './read-sla.ts';
import { decideFields } from './rules/decision.ts';
import type { TicketInput, TicketState } from './rules/fields.ts';
import { withStricterTargets } from './rules/sla.ts';
import type { StoredTicket } from './store/stored-ticket.ts';
import { plannedTicket, type RequestedChange, writeWithCustomer } from './write-with-customer.ts';

const maxAttempts = 20;
/** The most files that a ticket itself lists, after all requests that have added some. */
const maxTicketFiles = 200;

/**
 * Inserts the ticket with an external id, or updates it if it exists. Of several concurrent requests, the first
 * that claims the external id inserts; the others update.
 *
 * Errors: concurrent_change, if the ticket is inserted and deleted again and again; those of `writeText`, which leave
 * nothing behind.
 */
export async function upsertTicket(
  context: Context,
  call: Call,
  input: TicketInput,
  externalTicketId: string,
  writeText?: WriteText,
): Promise<StoredTicket> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const known = await context.externalIds.find(externalTicketId);
    const updated = known && (await updateExisting(context, call, input, known, writeText));
    if (updated) return updated;
    // Nobody has claimed the external id, or the ticket is not inserted yet, will never be, or was deleted.
    const id = known ?? (await context.ticketIds.next());
    const ticket = await prepareTicket(context, call, input, { id }, writeText);
    if (known === undefined && (await context.externalIds.claim(externalTicketId, id)) !== id) {
      context.ticketIds.release(id);
      continue;
    }
    const inserted = await storeTicket(context, call, ticket);
    if (inserted) return inserted;
    if (!(await context.tickets.find(id))) await context.externalIds.free(id);
  }
  throw new DomainError('aborted', 'concurrent_change', 'The ticket is being changed too often.');
}

/** Updates a ticket. Returns undefined if it does not exist. */
async function updateExisting(
  context: Context,
  call: Call,
  input: TicketInput,
  ticketId: number,
  writeText: WriteText | undefined,
): Promise<StoredTicket | undefined> {
  const now = context.now();
  const sla = await readSlaRules(context, input.tagIds !== undefined);
  const decide = ({ ticket }: StoredTicket, fields: TicketInput) => {
    const { attachments = [] } = fields;
    const added = attachments.length === 0 ? {} : { attachments: withFiles(ticket, attachments) };
    const withTargets = withStricterTargets(ticket, { ...fields, ...added }, sla);
    return decideFields(ticket, withTargets, now, eventHeaderOf(context, call));
  };
  const change = { ticketId, input, isHuman: isHuman(call.caller), decide };
  const requestId = call.idempotency?.id;
  const text = writeText ? await textOf(context, change, requestId, writeText) : {};
  if (!text) return undefined;
  const written = { ...input, ...text };
  await claimFiles(context, ticketId, written.attachments ?? []);
  return writeWithCustomer(context, { ...change, input: written }, { requestId }).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'not_found') return undefined;
    throw error;
  });
}

/**
 * The text that an update writes; none if the update was applied before, in a process that died before it responded.
 * Returns undefined if the ticket does not exist.
 */
async function textOf(
  context: Context,
  change: RequestedChange,
  requestId: string | undefined,
  writeText: WriteText,
): Promise<TicketInput | undefined> {
  const stored = await context.tickets.find(change.ticketId);
  if (!stored) return undefined;
  if (stored.appliedRequests.some(({ id }) => id === requestId)) return {};
  const ticket = await plannedTicket(context, stored, change);
  const withoutText = { body: null, bodyHtml: null, bodyPlain: null, bodyClean: null };
  return writeText({ ...stored, ticket: { ...ticket, ...withoutText } });
}

/** The files of a ticket with those that are added. */
function withFiles(ticket: TicketState, added: readonly AttachmentState[]): AttachmentState[] {
  const attachments = [...ticket.attachments, ...added];
  if (attachments.length > maxTicketFiles) {
    throw tooManyFiles('#/attachments', `would give the ticket more than ${maxTicketFiles} files`);
  }
  return attachments;
}
