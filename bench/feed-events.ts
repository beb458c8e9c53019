import { create, toBinary } from '@bufbuild/protobuf';
import {
  ChangeCause,
  type TicketChanged,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { messageEncoder } from '@ticketing/rest/codec/encode.ts';
import { mongo } from 'mongoose';
import { bareDatabase } from './dataset.ts';

/** How many events the feed has. */
export const feedCount = 20_000;

/** The collection that the bare route of the feed reads: documents that are the JSON of the events. */
export const bareEvents = 'events';

/** Fills the feed of the settings service, and the collection of the bare route, with the same events. */
export async function fillFeed(mongodbUri: string): Promise<void> {
  const client = await mongo.MongoClient.connect(mongodbUri);
  try {
    const settings = client.db('ticketing_settings');
    const encode = messageEncoder(TicketChangedSchema);
    const events = Array.from({ length: feedCount }, (_, index) => eventAt(index + 1));
    const receivedAt = new Date();
    await fill(
      settings.collection('events'),
      events.map((event, index) => {
        const { eventId, ticketId, type } = event;
        const binary = new mongo.Binary(toBinary(TicketChangedSchema, event));
        return { _id: index + 1, eventId, ticketId, type, receivedAt, event: binary };
      }),
    );
    await settings
      .collection<{ _id: string }>('feed')
      .replaceOne({ _id: 'feed' }, { first: 1, last: feedCount }, { upsert: true });
    await fill(
      client.db(bareDatabase).collection(bareEvents),
      events.map((event, index) => ({ ...encode(event), _id: index + 1 })),
    );
  } finally {
    await client.close();
  }
}

async function fill(collection: mongo.Collection, documents: readonly object[]): Promise<void> {
  await collection.deleteMany({});
  for (let at = 0; at < documents.length; at += 1000) await collection.insertMany(documents.slice(at, at + 1000));
}

function eventAt(position: number): TicketChanged {
  const text = (value: string) => ({ kind: { case: 'stringValue' as const, value } });
  return create(TicketChangedSchema, {
    eventId: `evt_${String(position).padStart(26, '0')}`,
    type: TicketChangeType.TICKET_UPDATED,
    ticketId: 1 + (position % 1000),
    version: 1 + Math.floor(position / 1000),
    occurredAt: { seconds: BigInt(1_769_850_600 + position) },
    changes: [
      { field: 'status', oldValue: text('open'), newValue: text('pending') },
      { field: 'priority', oldValue: text('low'), newValue: text('high') },
      { field: 'subject' },
    ],
    actor: { profileId: 7, kind: 'user' },
    cause: ChangeCause.REQUEST,
  });
}
