import type { JsonValue } from '@bufbuild/protobuf';
import {
  ChangeCause,
  type TicketChanged,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { isHuman, type ProfileKind } from '@ticketing/service-kit/identity/caller.ts';
import { changedValues } from './changed-values.ts';
import type { Decision } from './rules/label.ts';

const ownCauses: readonly ChangeCause[] = [ChangeCause.ANALYSIS, ChangeCause.REFRESH];
const manual: readonly JsonValue[] = ['manual_spam', 'manual_clean'];

/**
 * Returns the decision that somebody has made by a change of a ticket. A finding of an analysis is no decision, and
 * neither is a change that a service makes by itself, such as an automatic execution: the classifier would learn from
 * itself.
 *
 * Source: docs/decisions/0047-decisions-as-examples.md.
 */
export function decisionOf(changed: TicketChanged): Decision | undefined {
  const { ticketId, type, version, cause, actor } = changed;
  if (type === TicketChangeType.TICKET_DELETED || ownCauses.includes(cause)) return undefined;
  const spam = changedValues(changed, 'spamStatus');
  const tags = changedValues(changed, 'tagIds');
  const decision: Decision = {
    ticketId,
    tags: undefined,
    onlyRemoved: [],
    spam: spam !== undefined && (isManual(spam.before) || isManual(spam.after)),
    text: type !== TicketChangeType.TICKET_CREATED && changedValues(changed, 'subject') !== undefined,
  };
  if (tags && actor !== undefined && actor.kind !== 'service') {
    const [before, tagIds] = [idsOf(tags.before), idsOf(tags.after)];
    decision.tags = { version, tagIds, byPerson: isHuman({ kind: actor.kind as ProfileKind }) };
    const isAddition = tagIds.some((id) => !before.includes(id));
    if (!isAddition) decision.onlyRemoved = before.filter((id) => !tagIds.includes(id));
  }
  return decision.tags || decision.spam || decision.text ? decision : undefined;
}

function isManual(value: JsonValue): boolean {
  return manual.includes(value);
}

function idsOf(value: JsonValue): number[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'number') : [];
}
