import { isDeepStrictEqual } from 'node:util';
import { fromBinary } from '@bufbuild/protobuf';
import {
  ChangeCause,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import mongoose from 'mongoose';
import { changesBetween, type StoredDocuments } from './stored-documents.ts';

/** The facts that limit the effects of the analyses of some tickets. */
export interface AnalysisFacts {
  /** The tickets that were analysed. */
  ticketIds: ReadonlySet<number>;
  /** The tags that may be detected. */
  tagIds: ReadonlySet<number>;
  /** The AI agents by id, as they are in an intent. */
  agents: ReadonlyMap<number, { code: string; name: string; options: object[] }>;
  /** The system may not execute an intent before this time. Unix seconds. */
  earliest: number;
}

// biome-ignore lint/suspicious/noExplicitAny: documents of every shape
type Document = any;

/** A document before and after; undefined where it does not exist. */
interface Change {
  id: string;
  before: Document;
  after: Document;
  facts: AnalysisFacts;
}

/** Lists what was changed between two reads of a system but is no effect that an analysis of tickets may have. */
export function effectsBeyondAnalysis(before: StoredDocuments, after: StoredDocuments, facts: AnalysisFacts): string[] {
  const parsed = (text: string | undefined) =>
    text === undefined ? undefined : mongoose.mongo.BSON.EJSON.parse(text, { relaxed: true });
  return changesBetween(before, after).flatMap((path) => {
    const [collection = '', id = ''] = path.split(/\/(.*)/s);
    const problemsOf = allowed[collection.replace(/\d+$/, '')];
    if (!problemsOf) return [`${path}: may not be written`];
    const change = { id, before: parsed(before.get(path)), after: parsed(after.get(path)), facts };
    return problemsOf(change).map((problem) => `${path}: ${problem}`);
  });
}

/** The collections that an analysis writes, each with what is wrong with a change of a document. */
const allowed: Record<string, (change: Change) => string[]> = {
  'tickets.tickets': ticketProblems,
  'intents.intents': intentProblems,
  'intents.analyses': ({ after }) => (after ? ['is still queued'] : []),
  'intents.counters': ({ id }) => (id === '"intent"' ? [] : ['is no counter of intents']),
  'reporting.rows': rowProblems,
  'settings.events': eventProblems,
  'settings.feed': ({ before, after }) => beyond(before, after, ['last']),
  'events.logChunks': ({ before }) => (before ? ['an event has changed'] : []),
  'events.logConsumerOffsets': ({ before, after }) => beyond(before, after, ['offset']),
};

/** The fields of a ticket that an analysis sets, and those that count changes. */
const publicFields = [
  ...['sentiment', 'language', 'languageCode', 'summary', 'tagIds', 'spamStatus', 'aiSupportLevel', 'intents'],
  ...['autoExecuteAt', 'version', 'modifiedAt'],
];
/** The fields in the API, with the fields that are shown of the tags in `tagIds`. */
const shownFields = [...publicFields, 'tags', 'hasRequiredSkills'];
/** The fields in the ticket's document; the last ones are derived from the others, for queries. */
const storedFields = [
  ...publicFields,
  'aiAgentIds',
  'appliedRequests',
  'words',
  'queueGroup',
  'minTagId',
  'minAiAgentId',
];

/** Lists the changed fields that are not among `fields`, or says that the document was added or removed. */
function beyond(before: Document, after: Document, fields: readonly string[]): string[] {
  if (!before || !after) return [before ? 'was removed' : 'was added'];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => !fields.includes(name) && !isDeepStrictEqual(before[name], after[name]))
    .map((name) => `${name} has changed`);
}

const problem = (holds: boolean, text: string): string[] => (holds ? [] : [text]);

/** Line breaks, and characters that change how others are shown. */
const unwanted = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

function ticketProblems({ id, before, after, facts }: Change): string[] {
  const changed = beyond(before, after, storedFields);
  if (!before || !after) return changed;
  const { tagIds, summary, languageCode, sentiment, spamStatus, aiSupportLevel, autoExecuteAt } = after;
  // On spam nothing is proposed.
  const levels = spamStatus === 'auto_spam' ? [before.aiSupportLevel] : ['human', 'bot'];
  const added = tagIds.filter((tag: number) => !before.tagIds.includes(tag));
  return [
    ...problem(facts.ticketIds.has(Number(id)), 'was not analysed'),
    ...changed,
    ...problem(after.version === before.version + 1, 'has changed more than once'),
    ...problem(
      before.tagIds.every((tag: number) => tagIds.includes(tag)),
      'has lost a tag',
    ),
    ...problem(
      added.every((tag: number) => facts.tagIds.has(tag)),
      'has a tag that cannot be detected',
    ),
    ...problem(new Set(tagIds).size === tagIds.length, 'has a tag twice'),
    ...problem(summary === null || (summary.length <= 2000 && !unwanted.test(summary)), 'summary is not limited'),
    ...problem(languageCode === null || /^[a-z]{2}$/.test(languageCode), 'languageCode is none'),
    ...problem([null, 'positive', 'neutral', 'negative'].includes(sentiment), 'sentiment is none'),
    ...problem(
      ['auto_spam', 'auto_clean', before.spamStatus].includes(spamStatus),
      'spamStatus is none of a classifier',
    ),
    ...problem(levels.includes(aiSupportLevel), 'aiSupportLevel is none of an analysis'),
    ...problem(!autoExecuteAt || autoExecuteAt.getTime() >= facts.earliest * 1000, 'autoExecuteAt is too early'),
    ...after.intents.flatMap((intent: Document) => proposalProblems(intent, facts)),
    ...problem(
      after.intents.every(({ recipient }: Document) => [null, before.from].includes(recipient)),
      'an intent has another recipient',
    ),
  ];
}

function proposalProblems(
  { aiAgentId, code, name, options, status, outcome, data, ...intent }: Document,
  facts: AnalysisFacts,
) {
  return [
    ...problem(
      isDeepStrictEqual({ code, name, options }, facts.agents.get(aiAgentId)),
      'an intent is none of its AI agent',
    ),
    ...problem((status === 1 || status === 'ready') && !outcome && !intent.verified, 'an intent was executed'),
    ...problem(data === null, 'an intent has data'),
    ...problem(intent.contractId === null, 'an intent has a contract'),
  ];
}

function intentProblems({ before, after, facts }: Change): string[] {
  if (before || !after) return ['an intent that was there has changed'];
  const { ticketId, execution, recipient, autoExecuteAt, proposedBy } = after;
  return [
    ...proposalProblems(after, facts),
    ...problem(facts.ticketIds.has(ticketId), 'is for a ticket that was not analysed'),
    ...problem(execution === null && proposedBy === 'analysis', 'is more than a proposal'),
    ...problem(recipient === null || recipient === sender, 'has another recipient'),
    ...problem(autoExecuteAt === null || autoExecuteAt >= facts.earliest, 'is executed too early'),
  ];
}

/** The address that all mails come from. */
export const sender = 'kim@example.com';

function rowProblems({ before, after, facts }: Change): string[] {
  const columns = ['version', 'modifiedAt', 'rawData', 'tagPathIds', 'topic', 'allTags'];
  const changed = beyond(before, after, columns);
  if (!before || !after) return changed;
  const ticket = (row: Document) => JSON.parse(row.rawData);
  return [
    ...problem(facts.ticketIds.has(ticket(after).id), 'is of a ticket that was not analysed'),
    ...changed,
    ...beyond(ticket(before), ticket(after), shownFields).map((text) => `rawData: ${text}`),
  ];
}

function eventProblems({ before, after, facts }: Change): string[] {
  if (before || !after) return ['an event has changed'];
  const { type, cause, ticketId, changes } = fromBinary(TicketChangedSchema, after.event.buffer);
  const other = changes.map(({ field }) => field).filter((field) => ![...publicFields, 'aiAgentIds'].includes(field));
  return [
    ...problem(facts.ticketIds.has(ticketId), 'is of a ticket that was not analysed'),
    ...problem(type === TicketChangeType.TICKET_UPDATED && cause === ChangeCause.ANALYSIS, 'is no analysis'),
    ...other.map((field) => `${field} has changed`),
  ];
}
