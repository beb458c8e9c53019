import { DeliveryStatus } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import type {
  UpdateConversationRequest,
  UpdateConversationResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { invalidInput, notFound, type Violation } from '@ticketing/errors/domain-error.ts';
import { claimFiles, releaseFiles, removeFiles } from '@ticketing/files/attach-files.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { attachDraftFiles, type DraftFiles } from '@ticketing/files/draft-files.ts';
import { type NewFiles, newFiles } from '@ticketing/files/new-files.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { findMailboxViolations } from '../ticket/checks.ts';
import { ticketSubject } from '../ticket/store/document.ts';
import { type AddMessageDeps, messageTexts } from './add.ts';
import {
  type FoundConversation,
  findConversation,
  intentViolations,
  messageWasSent,
  requireNoteRight,
  sendViolations,
} from './checks.ts';
import type { MessageReference } from './external-id-store.ts';
import { type PublishDraftDeps, publishDraft } from './publish-draft.ts';
import type { ConversationInput } from './rules/fields.ts';
import { findNamedRecipients } from './rules/reply.ts';
import type { StoredConversation } from './store.ts';
import type { RefreshesWords } from './words.ts';

const recipientLists = ['to', 'cc', 'bcc'] as const;

/** The fields that say whether a draft is published, and how. */
const publishingFields = ['is_draft', 'send'];

/** The fields that a private note has too. */
const noteFields = ['content', 'is_draft'];

type UpdateConversationDeps = PublishDraftDeps & Pick<AddMessageDeps, 'attachments'> & RefreshesWords;

/**
 * Changes a draft or a private note; publishes a draft.
 *
 * Errors: ticket_not_found, conversation_not_found; message_was_sent; not_the_author; draft_only, unknown_subchannel, subchannel_disabled,
 * not_allowed, unknown_attachment, unknown_intent, each with a pointer; no_sender; those of `attachFiles`;
 * concurrent_change.
 * Source: docs/reference/api.md, Conversations.
 */
export async function updateConversation(
  deps: UpdateConversationDeps,
  call: Call,
  message: UpdateConversationRequest,
): Promise<UpdateConversationResponse> {
  const request = onlyNamed(message);
  const done: UpdateConversationResponse = {
    $typeName: 'ticketing.tickets.v1.UpdateConversationResponse',
    success: true,
  };
  call.idempotency?.addSubject(ticketSubject(request.ticketId));
  if (await wasApplied(deps, call, request)) return done;
  const first = requireChangeable(await find(deps, request), call, request);
  const violations = [
    ...sendViolations(request.isDraft === false, request.send),
    ...(first ? await ticketViolations(deps, request) : []),
  ];
  if (violations.length > 0) throw invalidInput(violations);
  if (!first) return done;
  const drafted = await attachDraftFiles(deps.attachments, call, request.attachments);
  const files = newFiles(deps.attachments, call);
  files.add(drafted.stored);
  await files.settle(applyChanges(deps, call, request, { drafted, files }));
  return done;
}

/** Applies the changes as soon as no other request changes the message. */
async function applyChanges(
  deps: UpdateConversationDeps,
  call: Call,
  request: UpdateConversationRequest,
  { drafted, files }: { drafted: DraftFiles; files: NewFiles },
): Promise<void> {
  const text = await readText(deps, call, request);
  await claimFiles(deps.attachments, request.ticketId, drafted.stored);
  const listed = await retryOnConflict(deps.runtime, 'The message is being changed too often.', () =>
    applyOnce(deps, call, request, { drafted, text }),
  );
  files.keep(listed);
}

/** Returns the files that the message lists afterwards; `conflict` if another request changes it at the moment. */
async function applyOnce(
  deps: UpdateConversationDeps,
  call: Call,
  request: UpdateConversationRequest,
  { drafted, text }: { drafted: DraftFiles; text: Partial<ConversationInput> },
): Promise<readonly AttachmentState[] | typeof conflict> {
  const before = await find(deps, request);
  const stored = requireChangeable(before, call, request);
  if (!stored) return [];
  if (stored.isBeingPublished) return conflict;
  const set = changedFields(deps, call, stored, { request, files: drafted, text });
  const kept = new Set(set.attachments?.map(({ key }) => key));
  const dropped = set.attachments ? stored.conversation.attachments.filter(({ key }) => !kept.has(key)) : [];
  await releaseFiles(deps.attachments, dropped);
  const isPublished = before.isDraft && request.isDraft === false;
  const isDone = isPublished
    ? await publishDraft(deps, call, stored, { changes: set, isSent: request.send ?? true })
    : Object.keys(set).length === 0 || (await store(deps, call, before, { stored, set }));
  if (!isDone) return conflict;
  await removeFiles(deps.attachments, dropped);
  return set.attachments ?? stored.conversation.attachments;
}

/** Stores the changes of a draft or a note. A note is found by its words, which a process that dies has outdated before. */
async function store(
  { messages, tickets, refreshWords }: UpdateConversationDeps,
  { caller }: Call,
  { isDraft }: FoundConversation,
  { stored, set }: { stored: StoredConversation; set: Partial<ConversationInput> },
): Promise<boolean> {
  const { ticketId } = stored.conversation;
  if (isDraft) return messages.conversations.update(stored, { set, mail: null });
  await tickets.outdateWords(ticketId);
  const isStored = await messages.conversations.update(stored, { set, mail: null });
  await tickets.outdateWords(ticketId);
  if (isStored) await refreshWords(ticketId, caller);
  return isStored;
}

function find({ tickets, messages }: UpdateConversationDeps, request: MessageReference): Promise<FoundConversation> {
  return findConversation({ tickets, conversations: messages.conversations }, request);
}

/** The request without the fields that its mask does not name. */
function onlyNamed({ content, isDraft, subchannelId, attachments, send, ...request }: UpdateConversationRequest) {
  const named = new Set(request.updateMask?.paths);
  return {
    ...request,
    attachments: named.has('attachments') ? attachments : [],
    ...(named.has('content') && content !== undefined ? { content } : {}),
    ...(named.has('is_draft') && isDraft !== undefined ? { isDraft } : {}),
    ...(named.has('subchannel_id') && subchannelId !== undefined ? { subchannelId } : {}),
    ...(named.has('send') && send !== undefined ? { send } : {}),
  };
}

/** The violations in what depends on the ticket: the mailbox and the intents. */
async function ticketViolations(
  deps: UpdateConversationDeps,
  { ticketId, updateMask, subchannelId, intentIds }: UpdateConversationRequest,
): Promise<Violation[]> {
  const intents = updateMask?.paths.includes('intent_ids') ? intentIds : [];
  if (intents.length === 0 && subchannelId === undefined) return [];
  const stored = await deps.tickets.find(ticketId);
  if (!stored) throw notFound('Ticket');
  return [
    ...(await findMailboxViolations(deps.settings, stored.ticket.channel, subchannelId)),
    ...intentViolations(intents, stored.ticket),
  ];
}

/**
 * Returns the message if the request may change it; undefined if it changes nothing: `isDraft` false on a message that
 * was published.
 */
function requireChangeable(
  { stored, isDraft }: FoundConversation,
  { caller }: Call,
  request: UpdateConversationRequest,
): StoredConversation | undefined {
  const fields = request.updateMask?.paths ?? [];
  if (stored && isDraft) return stored;
  if (request.isDraft === true) throw messageWasSent();
  if (fields.every((field) => publishingFields.includes(field))) return undefined;
  if (!stored?.conversation.private) throw messageWasSent();
  requireNoteRight(caller, stored.conversation);
  const draftOnly = fields.filter((field) => !noteFields.includes(field));
  if (draftOnly.length === 0) return stored;
  throw invalidInput(
    draftOnly.map((field) => ({
      pointer: `#/${jsonNames.get(field) ?? field}`,
      code: 'draft_only',
      detail: 'is for drafts only',
    })),
  );
}

const jsonNames = new Map([
  ['intent_ids', 'intentIds'],
  ['subchannel_id', 'subchannelId'],
]);

/** Whether a process that died has already published the draft for the same request. */
async function wasApplied(
  deps: UpdateConversationDeps,
  { idempotency }: Call,
  { ticketId }: UpdateConversationRequest,
) {
  if (!idempotency) return false;
  const stored = await deps.tickets.find(ticketId);
  if (!stored) throw notFound('Ticket');
  return stored.appliedRequests.some(({ id }) => id === idempotency.id);
}

/** Returns the content of the request, if it has any, with the texts that are made of it. */
async function readText(
  deps: UpdateConversationDeps,
  call: Call,
  { content }: UpdateConversationRequest,
): Promise<Partial<ConversationInput>> {
  if (content?.message === undefined || content.type === undefined) return {};
  const text = { body: content.message, type: content.type };
  return { ...text, ...(await messageTexts(deps.textWork, call, text)) };
}

/** The fields that the request sets; empty if their values are the same. */
function changedFields(
  deps: UpdateConversationDeps,
  call: Call,
  { conversation }: StoredConversation,
  { request, files, text }: { request: UpdateConversationRequest; files: DraftFiles; text: Partial<ConversationInput> },
): Partial<ConversationInput> {
  const { subchannelId, intentIds } = request;
  const given = new Set(request.updateMask?.paths);
  const set: Partial<ConversationInput> = {
    ...givenRecipients(conversation, request, given),
    ...(given.has('intent_ids') ? { intentIds } : {}),
    ...(given.has('attachments') ? { attachments: files.listFor(conversation.attachments) } : {}),
    ...(subchannelId === undefined ? {} : { subchannelId }),
    ...text,
  };
  const names = Object.keys(set) as (keyof ConversationInput)[];
  const isSame = names.every((name) => JSON.stringify(set[name]) === JSON.stringify(conversation[name]));
  if (isSame) return {};
  // The publishing of a draft may have been interrupted after it was stored as it would be sent.
  const unsent = { deliveryStatus: DeliveryStatus.NONE, notSentReason: null, externalConversationId: null };
  return {
    ...set,
    ...(conversation.private ? {} : unsent),
    modifiedAt: secondsNow(deps.runtime),
    modifiedBy: call.caller.profileId,
  };
}

/** The recipients that a request gives, and in which lists requests have named somebody then. */
function givenRecipients(
  { namedRecipients }: ConversationInput,
  request: UpdateConversationRequest,
  given: ReadonlySet<string>,
): Partial<ConversationInput> {
  const names = recipientLists.filter((name) => given.has(name));
  if (names.length === 0) return {};
  const lists = Object.fromEntries(names.map((name) => [name, request[name]]));
  const kept = namedRecipients.filter((name) => !(name in lists));
  return { ...lists, namedRecipients: [...kept, ...findNamedRecipients(lists)] };
}
