import { create, toBinary } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import {
  ChangeCause,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { AnalysisService } from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import type { ApplyAnalysisRequest } from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { RefreshMode } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { type IntentsHarness, startHarness } from './harness.ts';
import type { StubTicket } from './stub-called.ts';

/** A ticket of the stub. */
export type AnalysedStub = StubTicket;

/** A running intents service that analyses tickets. */
export interface AnalysisHarness extends IntentsHarness {
  client: Client<typeof AnalysisService>;
  /** Requests an analysis; without a mode the first one. */
  ask(ticketId: number, mode?: RefreshMode): Promise<void>;
  /** Publishes the creation or deletion of a ticket. */
  publish(ticketId: number, type: TicketChangeType, cause?: ChangeCause): Promise<void>;
  /** The analyses of a ticket that were applied. */
  appliedTo(ticketId: number): ApplyAnalysisRequest[];
  /** Returns the number of entries in the queue. */
  queued(): Promise<number>;
  /** Makes the analysis of a ticket due that waits before it is attempted again, and wakes the analyser. */
  endPause(ticketId: number): Promise<void>;
}

/** Starts an intents service with some roles for one test file. */
export async function startAnalysisHarness(roles: string): Promise<AnalysisHarness> {
  const harness = await startHarness({ variables: { ROLES: roles } });
  const { model } = harness;
  for (const id of [5, 6, 7]) model.tagIds.add(id);
  const bus = await harness.openBus();
  const client = await harness.openClient(AnalysisService);
  const analyses = harness.database.collection('analyses');
  let last = 0;
  return {
    ...harness,
    client,
    async ask(ticketId, mode) {
      await client.requestAnalyses({ requests: [{ ticketId, ...(mode === undefined ? {} : { mode }) }] });
    },
    async publish(ticketId, type, cause = ChangeCause.REQUEST) {
      const eventId = `evt_${++last}`;
      const event = create(TicketChangedSchema, { eventId, ticketId, type, cause, version: 1 });
      const header = { id: eventId, type: 'ticket.created', source: 'test', subject: String(ticketId), time: 0 };
      const value = toBinary(TicketChangedSchema, event);
      await bus.publish(ticketChangedTopic.name, [eventMessage(String(ticketId), header, value)]);
    },
    appliedTo: (ticketId) => model.applied.filter((one) => one.ticketId === ticketId),
    queued: () => analyses.countDocuments(),
    async endPause(ticketId) {
      const waits = { _id: ticketId as never, nextAttemptAt: { $ne: null }, lease: null };
      await analyses.updateOne(waits, { $set: { nextAttemptAt: new Date(0) } });
      // Queues nothing.
      await client.requestAnalyses({ requests: [{ ticketId, mode: RefreshMode.CUSTOMER }] });
    },
    async stop() {
      await bus.close();
      await harness.stop();
    },
  };
}

export { TicketChangeType };
