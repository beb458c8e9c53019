import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import mongoose, { type Connection, type mongo } from 'mongoose';
import { toErasedBytes } from './rules/event.ts';

/** A stored document with an event. */
interface DocumentWithEvent {
  _id: string | number;
  ticketId: number | null;
  event: mongo.Binary | null;
}

/** Wipes from the events of deleted tickets in a collection the values that must not outlive the tickets. */
export async function eraseEvents(
  connection: Connection,
  collection: string,
  ticketIds: readonly number[],
): Promise<void> {
  const documents = openCollection<DocumentWithEvent>(connection, collection);
  const found = documents.find({ ticketId: { $in: [...ticketIds] } }, { projection: { event: 1 } });
  for await (const { _id, event } of found) {
    if (!event) continue;
    const stored = event.value();
    const erased = toErasedBytes(stored);
    if (erased.length === stored.length) continue;
    await documents.updateOne({ _id }, { $set: { event: new mongoose.mongo.Binary(erased) } });
  }
}
