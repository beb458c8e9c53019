import mongoose from 'mongoose';
import { expect } from 'vitest';
import type { System } from './harness.ts';

/** Reads every document of all stores and of the event log of a system: the text of each collection, by its name. */
export async function storedTexts(system: System): Promise<Map<string, string>> {
  const client = await mongoose.createConnection(system.mongodbUri).asPromise();
  const parts = new Map<string, string>();
  try {
    const names = Object.entries(system.environment).filter(([name]) => name.endsWith('MONGODB_DATABASE'));
    for (const name of new Set(names.map(([, database]) => database))) {
      const database = client.getClient().db(name);
      for (const collection of await database.listCollections().toArray()) {
        const texts = [parts.get(collection.name) ?? ''];
        for await (const document of database.collection(collection.name).find({})) {
          texts.push(JSON.stringify(document, (_, value) => textOf(value)));
        }
        parts.set(collection.name, texts.join('\n'));
      }
    }
  } finally {
    await client.close();
  }
  expect([...parts.values()].join('').length).toBeGreaterThan(0);
  return parts;
}

function textOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  // JSON.stringify has made base64 of binary values; they are decoded so that the text in them is found.
  return /^[A-Za-z0-9+/]{16,}={0,2}$/.test(value) ? `${value} ${Buffer.from(value, 'base64').toString()}` : value;
}
