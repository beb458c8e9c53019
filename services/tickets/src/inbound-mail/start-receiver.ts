import { DomainError } from '@ticketing/errors/domain-error.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { requireSpace } from '@ticketing/store/connection/free-space.ts';
import type { Context } from '../context.ts';
import type { TicketSettings } from '../settings.ts';
import { mailboxOf } from '../ticket/rules/mailbox.ts';
import { takeInMail } from './receive.ts';
import { defaultSmtpLimits, type MailHandler, type ReceiverConfig, startSmtpReceiver } from './smtp-receiver.ts';

/** Starts the role `mail-receiver`: mails that arrive by SMTP are taken in on behalf of this service. */
export function startReceiver(
  { config, log, space, tls }: Pick<Kit<unknown, unknown>, 'config' | 'log' | 'space' | 'tls'>,
  receiver: ReceiverConfig,
  context: Context,
): Promise<WakefulLoop> {
  const limits = { ...defaultSmtpLimits, bytesInFlight: config.maxBodyBytesInFlight };
  return startSmtpReceiver({ config: receiver, limits, tls, log, handler: mailHandler(context, { log, space }) });
}

function mailHandler(context: Context, { log, space }: Pick<Kit<unknown, unknown>, 'log' | 'space'>): MailHandler {
  return {
    async accepts(recipient) {
      requireSpace(space);
      const isKnown = ({ subchannels }: TicketSettings) =>
        subchannels && mailboxOf([recipient], subchannels) !== undefined;
      if (isKnown(await context.settings())) return true;
      const isAccepted = isKnown(await context.settings('owner'));
      if (isAccepted !== undefined) return isAccepted;
      throw new DomainError('unavailable', 'settings_unavailable', 'The mailboxes are not known yet.');
    },
    async receive(mail, recipients, sender) {
      requireSpace(space);
      const call = { caller: serviceCaller('tickets'), trace: continueTrace(undefined), log };
      const arrived = { raw: mail, recipients, keepDate: false, sender: `smtp ${sender}` };
      const { ticketId, conversationId, outcome } = await takeInMail(context, call, arrived);
      log.info({ ticketId, conversationId, outcome }, 'a mail was taken in');
    },
  };
}
