import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import { SpamStatusSchema } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { TicketSchema, TicketSummarySchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import {
  CreateTicketRequestSchema,
  TicketService,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { describe, expect, it } from 'vitest';
import { findComments } from './comments.ts';

describe('findComments', () => {
  it('returns the comment of every kind of part', () => {
    expect(findComments(TicketService).text).toBe('Creates, finds, reads, changes and deletes tickets.');
    expect(findComments(TicketService.method.getTicketVariables).summary).toBe(
      'Returns the data that templates for the ticket are rendered with',
    );
    expect(findComments(TicketSchema).summary).toBe(
      'A request of a customer and the work on it: an e-mail, a call, a letter, a chat',
    );
    expect(findComments(TicketSchema.field.agentIds).text).toBe('The ids of the assigned agents: `[agentId]` or `[]`.');
    expect(findComments(SpamStatusSchema).summary).toBe('Whether a ticket is spam, and who decided it');
    expect(findComments(SpamStatusSchema.value[4]).text).toBe('Marked as spam through the API.');
  });

  it('returns the comment of the field that a field without one is like', () => {
    expect(findComments(TicketSummarySchema.field.agentIds)).toEqual(findComments(TicketSchema.field.agentIds));
    expect(findComments(CreateTicketRequestSchema.field.createdAt).text).toBe(
      'When the ticket was created. Default: now.',
    );
  });

  it('joins the lines of a paragraph, keeps paragraphs and sets the errors apart', () => {
    const { summary, rest, text } = findComments(TicketService.method.createTicket);
    expect(summary).toBe('Creates a ticket, or updates the one with the same `externalTicketId`');
    expect(rest).toMatch(/^On an update, absent fields keep .* to a creation only\. .*\n\nErrors: `unknown_tag`,.*\.$/);
    expect(text).toBe(`${summary}.\n\n${rest}`);
  });

  it('returns empty texts for a file that is not in the image', () => {
    expect(findComments(TimestampSchema)).toEqual({ summary: '', rest: '', text: '' });
  });
});
