import type {
  ReceiveMailRequest,
  ReceiveMailResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { type Context, ticketSubject } from '../context.ts';
import { receiveMail as receive } from './take-in.ts';

/**
 * Takes in an e-mail.
 *
 * Errors: those of `receiveMail` in `take-in.ts`.
 * Source: docs/reference/api.md, Incoming mail.
 */
export async function receiveMail(
  context: Context,
  call: Call,
  { mail, subchannelId, keepDate = false }: ReceiveMailRequest,
): Promise<ReceiveMailResponse> {
  const received = await receive(context, call, { raw: mail, subchannelId, keepDate, sender: callerKey(call.caller) });
  call.idempotency?.addSubject(ticketSubject(received.ticketId));
  return { $typeName: 'ticketing.tickets.v1.ReceiveMailResponse', ...received };
}
