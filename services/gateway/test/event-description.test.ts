import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import specs from '@asyncapi/specs';
import { create } from '@bufbuild/protobuf';
import { TicketChangedSchema, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { messageEncoder } from '@ticketing/rest/codec/encode.ts';
import type { AsyncApiDocument } from '@ticketing/rest/documents/asyncapi.ts';
import { services } from '@ticketing/system/services.ts';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { eventDescription } from '../src/page/event-description.ts';

const document = eventDescription();

/** The official JSON Schema of the format, which contains the meta-schema itself. */
const options = { strict: false, validateFormats: false, meta: false, validateSchema: false } as const;
const fits = new Ajv(options).compile(specs.schemas['3.0.0'] as object);

test('the document fits the official schema of AsyncAPI 3.0', () => {
  expect([fits(document), fits.errors]).toEqual([true, null]);
  const { channels, ...incomplete } = document;
  expect(fits({ ...incomplete, channels: { a: { adress: 'x' } } })).toBe(false);
  expect(fits({ ...incomplete, channels, operations: { a: { action: 'publish' } } })).toBe(false);
});

test('the document passes a linter, which finds a reference to nothing', () => {
  expect(lint(withoutProto(document))).toEqual({ status: 0, report: expect.stringContaining('valid') });
  const [name = ''] = Object.keys(document.channels);
  const channels = { ...document.channels, [name]: { address: 'x', messages: { a: { $ref: '#/components/x' } } } };
  expect(lint({ ...withoutProto(document), channels }).status).toBe(1);
});

test('every reference exists', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
  expect(references.length).toBeGreaterThan(20);
  for (const path of references) {
    const found = path
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
    expect([path, typeof found]).toEqual([path, 'object']);
  }
});

test('every topic that a service publishes is a channel', () => {
  const topics = services.flatMap(({ publishes }) => publishes.map(({ name }) => name));
  const addresses = Object.values(document.channels).map(({ address }) => address);
  expect(addresses).toEqual(expect.arrayContaining([...topics, '/event', undefined]));
  expect(addresses).toHaveLength(topics.length + 2);
});

// spec: 38.3
test('every type of event is a webhook message, whose payload accepts it and no other', () => {
  const { webhook } = document.channels;
  expect(Object.keys(webhook?.messages as object)).toEqual([
    'webhook.ticket.created',
    'webhook.ticket.updated',
    'webhook.ticket.deleted',
    'webhook.conversation.created',
    'webhook.conversation.published',
    'webhook.intent.executed',
    'webhook.conversation.failed',
    'webhook.webhook.test',
  ]);
  const payload = document.components.messages['webhook.ticket.updated']?.payload as object;
  const accepts = new Ajv({ strict: false, validateFormats: false }).compile({
    ...payload,
    components: document.components,
  });
  const event = (type: TicketChangeType) => ({
    type: 'ticket.updated',
    timestamp: '2026-01-31T09:10:00Z',
    data: messageEncoder(TicketChangedSchema)(
      create(TicketChangedSchema, {
        eventId: 'evt_1',
        type,
        ticketId: 1,
        version: 2,
        cause: 1,
        occurredAt: { seconds: 1n },
        actor: { kind: 'user', profileId: 7 },
      }),
    ),
  });
  expect([accepts(event(TicketChangeType.TICKET_UPDATED)), accepts.errors]).toEqual([true, null]);
  expect(accepts(event(TicketChangeType.TICKET_CREATED))).toBe(false);
  expect(accepts({ ...event(TicketChangeType.TICKET_UPDATED), type: 'ticket.created' })).toBe(false);
});

/**
 * Redocly rejects a schema that is a text, which a schema of another format must be; the official schema accepts it.
 */
function withoutProto(given: AsyncApiDocument): AsyncApiDocument {
  const messages = Object.entries(given.components.messages).map(([name, message]) => {
    const isProto = 'schemaFormat' in (message.payload as object);
    return [name, isProto ? { ...message, payload: { type: 'string', format: 'binary' } } : message];
  });
  return { ...given, components: { ...given.components, messages: Object.fromEntries(messages) } };
}

function lint(given: object): { status: number | null; report: string } {
  const folder = mkdtempSync(join(tmpdir(), 'asyncapi-'));
  try {
    writeFileSync(join(folder, 'asyncapi.json'), JSON.stringify(given));
    writeFileSync(join(folder, 'redocly.yaml'), 'extends: [recommended]\ntelemetry: off\n');
    const redocly = fileURLToPath(new URL('../../../node_modules/.bin/redocly', import.meta.url));
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const { status, stdout, stderr } = spawnSync(process.execPath, [redocly, 'lint', 'asyncapi.json'], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    return { status, report: stdout + stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
