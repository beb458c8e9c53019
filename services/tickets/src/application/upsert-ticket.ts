import { DomainError } from '@ticketing/errors/domain-error.ts';
import { isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { type AttachmentState, maxTicketFiles } from '../domain/attachment.ts';
import { withStricterTargets } from '../domain/sla.ts';
import { decideFields } from '../domain/ticket-decision.ts';
import type { TicketInput, TicketState } from '../domain/ticket-fields.ts';
import type { StoredTicket } from '../store/stored-ticket.ts';
import { claimFiles } from './attach-files.ts';
import type { Context } from './context.ts';
import { eventHeaderOf } from './event-header.ts';
import { ticketIsFull } from './file-errors.ts';
import { insertWithId } from './insert-ticket.ts';
import { readSlaRules } from './sla-rules.ts';
import { writeWithCustomer } from './write-with-customer.ts';

const maxAttempts = 20;

/**
 * Inserts the ticket with an external id, or updates it if it exists. Of several concurrent requests, the first
 * that claims the external id inserts; the others update.
 *
 * Errors: concurrent_change, if the ticket is inserted and deleted again and again.
 */
export async function upsertTicket(
  context: Context,
  call: Call,
  input: TicketInput,
  externalTicketId: string,
): Promise<StoredTicket> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const { ticketId, isNew } = await claimExternalId(context, externalTicketId);
    const inserted = isNew ? await insertWithId(context, call, input, ticketId) : undefined;
    const stored = inserted ?? (await updateExisting(context, call, input, ticketId));
    if (stored) return stored;
    // The process that claimed the external id died before it inserted the ticket, or the ticket was deleted.
    const insertedInstead = await insertWithId(context, call, input, ticketId);
    if (insertedInstead) return insertedInstead;
    if (!(await context.tickets.find(ticketId))) await context.externalIds.free(ticketId);
  }
  throw new DomainError('aborted', 'concurrent_change', 'The ticket is being changed too often.');
}

async function claimExternalId(
  context: Context,
  externalTicketId: string,
): Promise<{ ticketId: number; isNew: boolean }> {
  const proposed = await context.ticketIds.next();
  const ticketId = await context.externalIds.claim(externalTicketId, proposed);
  const isNew = ticketId === proposed;
  if (!isNew) context.ticketIds.release(proposed);
  return { ticketId, isNew };
}

/** Updates a ticket. Returns undefined if it does not exist. */
async function updateExisting(
  context: Context,
  call: Call,
  input: TicketInput,
  ticketId: number,
): Promise<StoredTicket | undefined> {
  const now = context.now();
  const { attachments = [] } = input;
  await claimFiles(context, ticketId, attachments);
  const sla = await readSlaRules(context, input.tagIds !== undefined);
  const decide = ({ ticket }: StoredTicket, fields: TicketInput) => {
    const added = attachments.length === 0 ? {} : { attachments: withFiles(ticket, attachments) };
    const withTargets = withStricterTargets(ticket, { ...fields, ...added }, sla);
    return decideFields(ticket, withTargets, now, eventHeaderOf(context, call));
  };
  const change = { ticketId, input, isHuman: isHuman(call.caller), decide };
  return writeWithCustomer(context, change, { requestId: call.idempotency?.id }).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'not_found') return undefined;
    throw error;
  });
}

/** The files of a ticket with those that are added. */
function withFiles(ticket: TicketState, added: readonly AttachmentState[]): AttachmentState[] {
  const attachments = [...ticket.attachments, ...added];
  if (attachments.length > maxTicketFiles) throw ticketIsFull('#/attachments');
  return attachments;
}
