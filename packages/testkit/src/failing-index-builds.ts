import mongoose, { type Connection } from 'mongoose';

/** Opens a connection that builds no indexes for some collections, and records how many builds run at once. */
export function openFailingBuilds(failing: readonly string[]) {
  const connection = mongoose.createConnection();
  const record = { running: 0, most: 0 };
  connection.collection = ((name: string) => {
    const build = async () => {
      record.most = Math.max(record.most, ++record.running);
      await Promise.resolve();
      record.running -= 1;
      if (failing.includes(name)) throw new Error(`no space for ${name}`);
    };
    return { name, createIndex: build, createIndexes: build };
  }) as never;
  return { connection: connection as Connection, record };
}
