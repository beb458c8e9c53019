import type { JsonObject } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import type { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import type { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';

/** The services that make the text of a reply. */
export interface ReplyServices {
  tickets(call: OnBehalfOf): Client<typeof TicketService>;
  rendering(call: OnBehalfOf): Client<typeof RenderingService>;
}

/**
 * Reads the values for a reply to a ticket, and returns the function that renders it. Writes nothing.
 *
 * Errors, also of that function: those of the tickets and templates services, as ConnectError.
 */
export type PrepareReply = (call: OnBehalfOf, ticket: Pick<Ticket, 'id' | 'channel'>) => Promise<RenderReply>;

/** Renders a reply from a response template and the data of the intent. */
export type RenderReply = (templateId: number, data: JsonObject) => Promise<string>;

/** Makes the function that prepares replies. */
export function openReplies({ tickets, rendering }: ReplyServices): PrepareReply {
  return async (call, { id, channel }) => {
    const { trace, signal } = call;
    const { variables } = await tickets(call).getTemplateVariables({ ticketId: id });
    const values = JSON.parse(Buffer.from(variables).toString('utf8'));
    return async (templateId, data) => {
      const { message } = await rendering({ trace, signal }).renderTemplate({
        templateId,
        variables: Buffer.from(JSON.stringify({ ...values, in: data })),
        withWrapper: channel === Channel.EMAIL,
      });
      return message;
    };
  };
}

/** The channels on which a written message reaches the customer. */
const channelsThatReach: readonly Channel[] = [Channel.EMAIL, Channel.PORTAL, Channel.CHAT];

/** Finds the recipients of a message to the customer of a ticket; empty if nobody can be reached. */
export function findRecipients({ channel, replyRecipients }: Ticket): string[] {
  return channelsThatReach.includes(channel) ? (replyRecipients?.to ?? []) : [];
}
