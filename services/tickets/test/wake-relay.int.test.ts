import { create } from '@bufbuild/protobuf';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  CreateTagRequestSchema,
  DeleteTagRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import {
  CreateTicketRequestSchema,
  DeleteTicketRequestSchema,
  UpdateTicketRequestSchema,
  UpdateTicketsRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from './harness.ts';
import { newProcess } from './new-process.ts';

const call = testCall({ roleId: 1 });
let tickets: TicketsHarness;
let database: Database;
let wakes: Promise<number>[] = [];

beforeAll(async () => {
  tickets = await startHarness();
  database = await tickets.openDatabase();
});
afterAll(async () => {
  await database.close();
  await tickets.stop();
});

const countEvents = async () => {
  const documents = await Promise.all(
    ['tickets', 'tags'].map((name) =>
      tickets.database
        .collection(name)
        .find({ 'outbox.0': { $exists: true } })
        .toArray(),
    ),
  );
  return documents.flat().reduce((sum, { outbox }) => sum + outbox.length, 0);
};

test('each kind of change wakes the relay of its process, and its event is stored by then', async () => {
  const context = newProcess(tickets, database, 0, { wakeRelay: () => void wakes.push(countEvents()) });
  const ticket = { id: 0, contractId: 'V', updateMask: { paths: ['contract_id'] } };
  let tagId = 0;
  const changes: Record<string, () => Promise<unknown>> = {
    createTicket: async () => {
      const created = await context.createTicket(call, create(CreateTicketRequestSchema, { channel: Channel.PHONE }));
      ticket.id = created.ticket?.id ?? 0;
    },
    updateTicket: () =>
      context.updateTicket(call, create(UpdateTicketRequestSchema, { ...ticket, ticketId: ticket.id })),
    updateTickets: () =>
      context.updateTickets(call, create(UpdateTicketsRequestSchema, { tickets: [{ ...ticket, contractId: 'W' }] })),
    deleteTicket: () => context.deleteTicket(call, create(DeleteTicketRequestSchema, { ticketId: ticket.id })),
    createTag: async () => {
      tagId = (await context.createTag(call, create(CreateTagRequestSchema, { name: 'a tag' }))).id;
    },
    deleteTag: () => context.deleteTag(call, create(DeleteTagRequestSchema, { id: tagId })),
  };
  for (const [name, change] of Object.entries(changes)) {
    const before = await countEvents();
    wakes = [];
    await change();
    expect(Math.max(0, ...(await Promise.all(wakes))), name).toBeGreaterThan(before);
  }
});
