import { expect } from 'vitest';
import type { System } from './harness.ts';
import { storedCollections } from './stored-documents.ts';

/** Reads every document of all stores and of the event log of a system: the text of each collection, by its name. */
export async function storedTexts(system: System): Promise<Map<string, string>> {
  const parts = new Map<string, string>();
  for await (const { name, documents } of storedCollections(system)) {
    const texts = documents.map((document) => JSON.stringify(document, (_, value) => toText(value)));
    parts.set(name, [parts.get(name) ?? '', ...texts].join('\n'));
  }
  expect([...parts.values()].join('').length).toBeGreaterThan(0);
  return parts;
}

function toText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  // JSON.stringify has made base64 of binary values; they are decoded so that the text in them is found.
  return /^[A-Za-z0-9+/]{16,}={0,2}$/.test(value) ? `${value} ${Buffer.from(value, 'base64').toString()}` : value;
}
