import { readFileSync } from 'node:fs';
import {
  TicketChangedSchema,
  TicketChangeTypeSchema,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import {
  WebhookDeliveryStatusSchema,
  WebhookDisabledReasonSchema,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { messageEncoder } from '@ticketing/rest/codec/encode.ts';
import { readSpellings } from '@ticketing/rest/codec/options.ts';
import { describe, expect, it } from 'vitest';
import { exampleEvents } from './example-events.ts';
import { withGuideParts } from './guide-parts.ts';
import { guidePath, guideSnippets } from './guide-snippets.ts';

const guide = readFileSync(guidePath, 'utf8');

describe('docs/webhooks.md', () => {
  it('has the parts that follow from the contract; npm run generate writes them', () => {
    expect(withGuideParts(guide)).toBe(guide);
  });

  it('shows, for each type, the body of a delivery', () => {
    const shown = guideSnippets()
      .filter(({ language, name }) => language === 'json' && name === '')
      .map(({ code }) => JSON.parse(code));
    expect(shown.map(({ type }) => type).sort()).toEqual([...readSpellings(TicketChangeTypeSchema).values()].sort());
    const encode = messageEncoder(TicketChangedSchema);
    expect(shown).toEqual(
      exampleEvents().map((event) => {
        const data = encode(event);
        return { type: data.type, timestamp: data.occurredAt, data };
      }),
    );
  });

  it('names the states of the contract', () => {
    for (const desc of [WebhookDeliveryStatusSchema, WebhookDisabledReasonSchema]) {
      for (const spelling of readSpellings(desc).values()) expect(guide).toContain(`\`${spelling}\``);
    }
  });
});

it('writes a part again that has become old, and fails where a part has no place', () => {
  const old = guide.replace('| `ticket.deleted` | It was deleted. |\n', '');
  expect(old).not.toBe(guide);
  expect(withGuideParts(old)).toBe(guide);
  expect(() => withGuideParts(guide.replace('<!-- generated: actor -->', ''))).toThrow(/"actor"/);
});
