import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFileRegistry, type DescMessage, fromJsonString } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { SettingChangedSchema } from '@ticketing/contracts/ticketing/events/v1/setting_changed_pb.ts';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import { TicketChangedSchema } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { expect, test } from 'vitest';
import { probeMessage } from '../../test/probe-contract.ts';
import { protoText } from './proto-text.ts';

test.each([TicketChangedSchema, TagChangedSchema, SettingChangedSchema])(
  'the text of $typeName compiles to the same message',
  (message) => {
    const compiled = compile(protoText(message), message.typeName);
    expect(toShape(compiled)).toEqual(toShape(message));
  },
);

test('comments are in the text, options are not', () => {
  const text = protoText(TicketChangedSchema);
  expect(text).toContain('  // The version of the ticket after the change.\n  int32 version = 4;\n');
  expect(text).toContain('import "google/protobuf/timestamp.proto";');
  expect(text).not.toContain('ticketing.api');
});

test('what the contracts of events do not use is refused', () => {
  const oneof = probeMessage([{ name: 'a', type: 'TYPE_STRING', oneofIndex: 0 }], ['choice']);
  expect(() => protoText(oneof)).toThrow('cannot be written');
});

/** Fields and enum values of a message and of those that it contains. */
function toShape(message: DescMessage, seen = new Set<string>()): unknown {
  if (seen.has(message.typeName)) return message.typeName;
  seen.add(message.typeName);
  return message.fields.map((field) => [
    field.name,
    field.number,
    field.fieldKind,
    field.presence,
    field.scalar,
    field.enum?.values.map(({ name, number }) => [name, number]),
    field.message && toShape(field.message, seen),
  ]);
}

function compile(text: string, typeName: string): DescMessage {
  const folder = mkdtempSync(join(tmpdir(), 'proto-'));
  try {
    writeFileSync(join(folder, 'message.proto'), text);
    const buf = fileURLToPath(new URL('../../../../node_modules/.bin/buf', import.meta.url));
    const { status, stdout, stderr } = spawnSync(process.execPath, [buf, 'build', '-o', '-#format=json'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    const registry = createFileRegistry(fromJsonString(FileDescriptorSetSchema, stdout, { ignoreUnknownFields: true }));
    return registry.getMessage(typeName) as DescMessage;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
