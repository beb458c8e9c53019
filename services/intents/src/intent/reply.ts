import type { JsonObject } from '@bufbuild/protobuf';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Context } from '../context.ts';

/** The message of a reply to a ticket, as a function of the response template and the data of the intent. */
export type RenderReply = (templateId: number, data: JsonObject) => Promise<string>;

/**
 * Reads the values for a reply to a ticket, and returns the function that renders it. Writes nothing.
 *
 * Errors, also of that function: those of the tickets and templates services, as ConnectError.
 */
export async function replyRenderer(
  context: Pick<Context, 'tickets' | 'rendering'>,
  call: OnBehalfOf,
  { id, channel }: Pick<Ticket, 'id' | 'channel'>,
): Promise<RenderReply> {
  const { trace, signal } = call;
  const { variables } = await context.tickets(call).getTemplateVariables({ ticketId: id });
  const values = JSON.parse(Buffer.from(variables).toString('utf8'));
  return async (templateId, data) => {
    const { message } = await context.rendering({ trace, signal }).renderTemplate({
      templateId,
      variables: Buffer.from(JSON.stringify({ ...values, in: data })),
      withWrapper: channel === Channel.EMAIL,
    });
    return message;
  };
}
