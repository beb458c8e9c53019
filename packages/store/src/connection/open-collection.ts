import type { Connection, mongo } from 'mongoose';

/**
 * Opens a collection of a database with the type of its documents. All reads and writes of stores go through it:
 * mongoose declares schemas and keeps the connection, and its own operations, which cast every value, are not used.
 */
export function openCollection<Document extends mongo.Document>(
  connection: Pick<Connection, 'collection'>,
  name: string,
): mongo.Collection<Document> {
  return connection.collection(name) as unknown as mongo.Collection<Document>;
}
