import { SettingChangedSchema } from '@ticketing/contracts/ticketing/events/v1/setting_changed_pb.ts';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import {
  TicketChangedSchema,
  TicketChangeTypeSchema,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { EventService } from '@ticketing/contracts/ticketing/settings/v1/event_service_pb.ts';
import { settingChangedTopic, tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { readAccessRule, readRestRule, readSpellings } from '@ticketing/rest/codec/options.ts';
import { type AsyncApiDocument, asyncApiDocument } from '@ticketing/rest/documents/asyncapi.ts';

/** Returns the AsyncAPI document of the events of the system, from the contracts. */
export function eventDescription(): AsyncApiDocument {
  const { followEvents } = EventService.method;
  return asyncApiDocument({
    title: 'Ticketing events',
    version: '1',
    topics: [
      {
        topic: ticketChangedTopic,
        message: TicketChangedSchema,
        key: 'The id of the ticket.',
        types: [...readSpellings(TicketChangeTypeSchema).values()],
        source: 'ticketing/tickets',
      },
      {
        topic: tagChangedTopic,
        message: TagChangedSchema,
        key: 'The id of the tag.',
        types: ['tag.changed'],
        source: 'ticketing/tickets',
      },
      {
        topic: settingChangedTopic,
        message: SettingChangedSchema,
        key: '`settings`, for all changes.',
        types: ['setting.changed'],
        source: 'ticketing/settings',
      },
    ],
    notifications: {
      event: TicketChangedSchema,
      types: TicketChangeTypeSchema,
      testType: 'webhook.test',
      feed: { path: readRestRule(followEvents)?.path ?? '', right: String(readAccessRule(followEvents)?.value) },
    },
  });
}
