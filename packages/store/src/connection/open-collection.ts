import type { Connection, mongo } from 'mongoose';

/**
 * Opens a collection of a database with the type of its documents. Reads and writes of stores go through it: mongoose
 * keeps the connection, and its own operations cast every value, which costs more than the operation itself.
 */
export function openCollection<Document extends mongo.Document>(
  connection: Pick<Connection, 'collection'>,
  name: string,
): mongo.Collection<Document> {
  return connection.collection(name) as unknown as mongo.Collection<Document>;
}
