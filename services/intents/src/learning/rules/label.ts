import { SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';

/** The tags of a ticket as somebody has left them. */
export interface TagLabels {
  /** The version of the ticket with them. */
  version: number;
  tagIds: readonly number[];
  /** Whether it was a person, and not a program. */
  byPerson: boolean;
}

/** A change of a ticket that examples follow from. */
export interface LabelChange {
  ticketId: number;
  /** Undefined if the change did not concern tags. */
  tags: TagLabels | undefined;
  /** The tags that were removed, if none was added: the change can be the cleanup of deleted tags. */
  onlyRemoved: readonly number[];
  /** Whether somebody has said whether it is spam. */
  spam: boolean;
  /** Whether the text has changed that examples are made of. */
  text: boolean;
}

/** A ticket as it is now, as far as an example depends on it. */
export interface LabelledTicket {
  tagIds: readonly number[];
  spamStatus: SpamStatus | null;
  /** Whether it counts as spam, also by a tag. */
  isSpam: boolean;
}

/** The labels that are learned from a ticket. Null: nobody has set them. */
export interface TrainingLabels {
  tagIds: readonly number[] | null;
  isSpam: boolean | null;
}

/** A training example: the features of a text as bytes, and the labels of the ticket. */
export interface LabelledFeatures extends TrainingLabels {
  features: Uint8Array;
}

/**
 * Returns the training labels of a ticket whose tags or spam status somebody has set. Tags that an analysis has found
 * later are left out, and so is a tag that the ticket no longer has, because it may be deleted. A person who has tagged a
 * ticket, and not marked it as spam, has seen that it is none: hardly anybody would mark enough tickets as clean.
 */
export function trainingLabels(tags: TagLabels | null, ticket: LabelledTicket): TrainingLabels {
  return {
    tagIds: tags ? tags.tagIds.filter((id) => ticket.tagIds.includes(id)).toSorted(ascending) : null,
    isSpam: spamLabel(tags, ticket),
  };
}

const ascending = (left: number, right: number) => left - right;

function spamLabel(tags: TagLabels | null, { spamStatus, isSpam }: LabelledTicket): boolean | null {
  if (spamStatus === SpamStatus.MANUAL_SPAM) return true;
  if (spamStatus === SpamStatus.MANUAL_CLEAN) return false;
  return tags?.byPerson && !isSpam ? false : null;
}
