import { create } from '@bufbuild/protobuf';
import { TicketSnapshotSchema } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { expect, test } from 'vitest';
import { toRow } from './from-snapshot.ts';

const objects = { rawData: { a: [1, null] }, workitem: {}, clientData: { '"': '"rawData":null' } };

test('objects that a snapshot has as JSON text are in the same place of the row as those of its ticket', () => {
  const ticket = { id: 1, version: 1, subject: '"rawData":null' };
  const jsonTexts = Object.fromEntries(Object.entries(objects).map(([name, value]) => [name, JSON.stringify(value)]));
  const texts = toRow(create(TicketSnapshotSchema, { ticket, jsonTexts }), new Map());
  const built = toRow(create(TicketSnapshotSchema, { ticket: { ...ticket, ...objects } }), new Map());
  expect(texts).toEqual(built);
  expect(JSON.parse(String(texts.values.rawData))).toMatchObject({ ...ticket, ...objects });
});

// spec: 14.14
test('the bodies are left out of a row that would be too large, and the objects are not', () => {
  const ticket = {
    id: 1,
    version: 1,
    body: 'b'.repeat(3_000_000),
    bodyPlain: 'b'.repeat(3_000_000),
    bodyClean: 'b'.repeat(3_000_000),
  };
  const row = toRow(create(TicketSnapshotSchema, { ticket, jsonTexts: { rawData: '{"a":1}' } }), new Map());
  const rawData = { body: null, bodyPlain: null, bodyClean: null, rawData: { a: 1 } };
  expect(JSON.parse(String(row.values.rawData))).toMatchObject(rawData);
});
