import { create, fromJson, type JsonValue, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import {
  ChangeCause,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { Bus } from '@ticketing/events/bus/bus.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import type { Model } from '../src/learning/model.ts';
import { parseModel } from '../src/learning/model-codec.ts';
import { type AnalysedStub, type AnalysisHarness, startAnalysisHarness } from './analysis-harness.ts';

/** The actor and the cause of a change; by default a person by a request. */
export interface ChangeOrigin {
  kind?: string;
  cause?: ChangeCause;
}

/** The stored labels of a ticket. */
export interface StoredLabels {
  tagIds: number[] | null;
  isSpam: boolean | null;
}

/** An intents service that learns, with a stub of the tickets service. */
export interface LearningHarness extends AnalysisHarness {
  /** Changes a ticket of the stub, and publishes the change. */
  decide(ticket: AnalysedStub, change: TicketPart, origin?: ChangeOrigin): Promise<void>;
  /** Publishes the last change of a ticket again, as a replay of the log does. */
  repeat(ticket: AnalysedStub): Promise<void>;
  deleteTicket(id: number): Promise<void>;
  deleteTag(id: number): Promise<void>;
  /** Returns the stored labels by ticket; undefined while some tickets wait to be read. */
  learned(): Promise<Map<number, StoredLabels> | undefined>;
  /** The newest model; undefined if there is none. */
  newest(): Promise<NewestModel | undefined>;
  /** Lets 7 hours pass, after which any change is learned. */
  passTime(): Promise<void>;
}

export type TicketPart = Partial<Pick<AnalysedStub, 'tagIds' | 'spamStatus' | 'subject' | 'isSpam'>>;
export type NewestModel = Model & { version: number; format: number; erasures: number };

const spellings = new Map<SpamStatus, string>([
  [SpamStatus.AUTO_SPAM, 'auto_spam'],
  [SpamStatus.AUTO_CLEAN, 'auto_clean'],
  [SpamStatus.AUTO_PROGRAMMATIC, 'auto_programmatic'],
  [SpamStatus.MANUAL_SPAM, 'manual_spam'],
  [SpamStatus.MANUAL_CLEAN, 'manual_clean'],
]);

/** Starts an intents service with some roles for one test file. */
export async function startLearningHarness(roles: string): Promise<LearningHarness> {
  const used = await startAnalysisHarness(roles);
  for (const id of [8, 31]) used.model.tagIds.add(id);
  const bus = await used.openBus();
  const collection = (name: string) => used.database.collection(name);
  const lastEvents = new Map<number, Parameters<Bus['publish']>[1][number]>();
  let last = 0;

  async function publish(ticketId: number, init: MessageInitShape<typeof TicketChangedSchema>): Promise<void> {
    const eventId = `evt_learning_${++last}`;
    const value = toBinary(TicketChangedSchema, create(TicketChangedSchema, { eventId, ticketId, ...init }));
    const header = { id: eventId, type: 'ticket.updated', source: 'test', subject: String(ticketId), time: 0 };
    const message = eventMessage(String(ticketId), header, value);
    lastEvents.set(ticketId, message);
    await bus.publish(ticketChangedTopic.name, [message]);
  }

  return {
    ...used,
    async decide(ticket, change, { kind = 'user', cause = ChangeCause.REQUEST } = {}) {
      const before = { ...ticket };
      Object.assign(ticket, change, { version: ticket.version + 1 });
      const changes = (['tagIds', 'spamStatus', 'subject'] as const).flatMap((field) => {
        return field in change ? [{ field, ...toValues(field, before, ticket) }] : [];
      });
      const type = TicketChangeType.TICKET_UPDATED;
      await publish(ticket.id, { type, version: ticket.version, changes, cause, actor: { kind } });
    },
    async repeat({ id }) {
      const event = lastEvents.get(id);
      if (event) await bus.publish(ticketChangedTopic.name, [event]);
    },
    async deleteTicket(id) {
      used.model.tickets.delete(id);
      await publish(id, { type: TicketChangeType.TICKET_DELETED, version: 99 });
    },
    async deleteTag(tagId) {
      const eventId = `evt_learning_${++last}`;
      const value = toBinary(TagChangedSchema, create(TagChangedSchema, { eventId, tagId, version: 2, deleted: true }));
      const header = { id: eventId, type: 'tag.changed', source: 'test', subject: String(tagId), time: 0 };
      await bus.publish(tagChangedTopic.name, [eventMessage(String(tagId), header, value)]);
    },
    async learned() {
      if ((await collection('examples').countDocuments({ dueAt: { $ne: null } })) > 0) return undefined;
      const stored = await collection('examples')
        .find({ example: { $ne: null } })
        .toArray();
      return new Map(stored.map(({ _id, example: { tagIds, isSpam } }) => [Number(_id), { tagIds, isSpam }]));
    },
    async newest() {
      const [stored] = await collection('models').find().sort({ _id: -1 }).limit(1).toArray();
      if (!stored) return undefined;
      const { _id, format, erasures } = stored;
      return { ...parseModel(stored.bytes.value()), version: Number(_id), format, erasures };
    },
    async passTime() {
      const earlier = (field: string, ms: number) => [{ $set: { [field]: { $subtract: [`$${field}`, ms] } } }];
      const [newest] = await collection('models').find().sort({ _id: -1 }).limit(1).toArray();
      // Examples that changed just before a training count as changed: they may have come too late.
      await collection('examples').updateMany({ changedAt: { $lt: newest?.trainedAt } }, earlier('changedAt', 10_000));
      await collection('examples').updateMany({ changedAt: { $ne: null } }, earlier('changedAt', 7 * 3_600_000));
      await collection('models').updateMany({}, earlier('trainedAt', 7 * 3_600_000));
    },
    async stop() {
      await bus.close();
      await used.stop();
    },
  };
}

function toValues(field: 'tagIds' | 'spamStatus' | 'subject', before: AnalysedStub, after: AnalysedStub) {
  if (field === 'subject') return {};
  const shown = ({ tagIds, spamStatus }: AnalysedStub): JsonValue =>
    field === 'tagIds' ? tagIds : spamStatus === undefined ? null : (spellings.get(spamStatus) ?? null);
  return { oldValue: fromJson(ValueSchema, shown(before)), newValue: fromJson(ValueSchema, shown(after)) };
}
