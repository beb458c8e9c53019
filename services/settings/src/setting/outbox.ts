import { create, toBinary } from '@bufbuild/protobuf';
import { SettingChangedSchema } from '@ticketing/contracts/ticketing/events/v1/setting_changed_pb.ts';
import { settingChangedTopic } from '@ticketing/contracts/topics.ts';
import type { OutgoingMessage } from '@ticketing/events/bus/bus.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { type Outbox, openOutbox } from '@ticketing/events/outbox/outbox.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { type SettingsEvent, settingsCollection } from './store.ts';

/** Opens the outbox from which the relay sends the changes of settings. */
export function openOutboxes({ connection }: Pick<Database, 'connection'>): Outbox[] {
  const collection = connection.collection(settingsCollection);
  return [openOutbox(collection, { name: 'settings', topic: settingChangedTopic.name, toMessage })];
}

/** Returns the message for the event that settings have changed. Source: docs/reference/api.md, Events. */
function toMessage(_id: number, event: SettingsEvent): OutgoingMessage {
  const { eventId, version, occurredAt, names, subchannelIds, traceparent } = event;
  const value = create(SettingChangedSchema, {
    eventId,
    version,
    occurredAt: toTimestamp(occurredAt),
    names: [...names],
    subchannelIds: [...subchannelIds],
  });
  const envelope = {
    id: eventId,
    type: 'setting.changed',
    source: 'ticketing/settings',
    subject: 'settings',
    time: occurredAt,
    traceparent,
  };
  return eventMessage('settings', envelope, toBinary(SettingChangedSchema, value));
}
