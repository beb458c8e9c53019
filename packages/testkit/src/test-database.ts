import { randomUUID } from 'node:crypto';
import mongoose, { type Connection } from 'mongoose';
import { afterAll, inject } from 'vitest';

/** Connects to a new database, which is dropped after the tests of the file. */
export async function testDatabase(): Promise<Connection> {
  const dbName = `test_${randomUUID().slice(0, 8)}`;
  const connection = await mongoose.createConnection(inject('mongodbUri'), { dbName }).asPromise();
  afterAll(async () => {
    await connection.dropDatabase();
    await connection.close();
  });
  return connection;
}
