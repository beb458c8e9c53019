import { create, toBinary } from '@bufbuild/protobuf';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import { TicketChangedSchema, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { Bus, OutgoingMessage } from '@ticketing/events/bus/bus.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import type { TestResponse } from '@ticketing/testkit/send-request.ts';
import { type HarnessRequest, type ServiceHarness, startServiceHarness } from '@ticketing/testkit/service-harness.ts';
import { expect, vi } from 'vitest';
import { service } from '../src/service.ts';
import { defaultSettings, type ReportingSettings } from '../src/settings.ts';
import { serveTickets, TicketModel } from './stub-tickets.ts';

/** A running reporting service, with a stub of the tickets service and a bus. */
export interface ReportingHarness extends Omit<ServiceHarness, 'request'> {
  model: TicketModel;
  bus: Bus;
  settings: ReportingSettings;
  request(path: string, request?: HarnessRequest & { method?: string }): Promise<TestResponse>;
  /** Creates or changes a ticket, publishes the event, and waits until the row shows the change. */
  put(id: number, fields?: Parameters<TicketModel['put']>[1]): Promise<void>;
  /** Deletes a ticket, publishes the event, and waits until its erasure is confirmed. */
  remove(id: number): Promise<void>;
  /** Creates or changes a tag, and publishes the event. */
  putTag(...tag: Parameters<TicketModel['putTag']>): Promise<void>;
  /** Exports rows as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read rows of every shape
  rows(query?: string): Promise<any[]>;
}

/** A caller with the right that exports require. */
export const reporter = { permissions: ['exportReporting'] };

/** The message for the event that a ticket has changed. */
export function ticketChanged(
  ticketId: number,
  version: number,
  type: TicketChangeType = TicketChangeType.TICKET_UPDATED,
): OutgoingMessage {
  const eventId = timeOrderedId('evt');
  const value = create(TicketChangedSchema, { eventId, ticketId, version, type });
  return toMessage(eventId, 'ticket.updated', ticketId, toBinary(TicketChangedSchema, value));
}

/** The message for the event that a tag has changed. */
export function tagChanged(tagId: number): OutgoingMessage {
  const eventId = timeOrderedId('evt');
  const value = create(TagChangedSchema, { eventId, tagId, version: 2 });
  return toMessage(eventId, 'tag.changed', tagId, toBinary(TagChangedSchema, value));
}

function toMessage(id: string, type: string, subject: number, value: Uint8Array): OutgoingMessage {
  const time = Math.floor(Date.now() / 1000);
  return eventMessage(String(subject), { id, type, source: 'test', subject: String(subject), time }, value);
}

/** Starts a reporting service for one test file. */
export async function startHarness(): Promise<ReportingHarness> {
  const model = new TicketModel();
  const stub = await serveTickets(model);
  const settings = { ...defaultSettings };
  const harness = await startServiceHarness(service, {
    settings: async () => settings,
    calledPorts: { grpc: stub.port },
    usesBus: true,
    publishes: [ticketChangedTopic, tagChangedTopic],
  });
  const bus = await harness.openBus();
  const waitOptions = { timeout: 30_000, interval: 20 };
  const request: ReportingHarness['request'] = (path, { method = 'GET', caller = reporter, ...rest } = {}) =>
    harness.request(method, path, { caller, ...rest });
  return {
    ...harness,
    model,
    bus,
    settings,
    request,
    async rows(query = '') {
      const response = await request(`/export/reporting_tickets?format=json&limit=1000${query}`);
      expect(response.status, response.text).toBe(200);
      return response.json;
    },
    async put(id, fields) {
      const version = model.put(id, fields);
      await bus.publish(ticketChangedTopic.name, [ticketChanged(id, version)]);
      const rows = harness.database.collection<{ _id: number; version: number }>('rows1');
      const isShown = async () => expect((await rows.findOne({ _id: id }))?.version).toBe(version);
      await vi.waitFor(isShown, waitOptions);
    },
    async remove(id) {
      const version = model.delete(id);
      await bus.publish(ticketChangedTopic.name, [ticketChanged(id, version, TicketChangeType.TICKET_DELETED)]);
      const isErased = () => expect(model.confirmed.some(({ ticketId }) => ticketId === id)).toBe(true);
      await vi.waitFor(isErased, waitOptions);
    },
    async putTag(...tag) {
      const [id] = tag;
      model.putTag(...tag);
      await bus.publish(tagChangedTopic.name, [tagChanged(id)]);
    },
    async stop() {
      await bus.close();
      await harness.stop();
      await stub.stop();
    },
  };
}
