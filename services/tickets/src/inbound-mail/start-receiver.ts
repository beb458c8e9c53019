import { DomainError } from '@ticketing/errors/domain-error.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { requireSpace } from '@ticketing/store/connection/free-space.ts';
import type { TicketSettings } from '../settings.ts';
import { findMailbox } from '../ticket/rules/subchannels.ts';
import type { InboundMailDeps } from './open.ts';
import { takeInMail } from './receive.ts';
import { defaultSmtpLimits, type MailHandler, type ReceiverConfig, startSmtpReceiver } from './smtp-receiver.ts';

/** Starts the role `mail-receiver`: mails that arrive by SMTP are taken in on behalf of this service. */
export function startReceiver(
  { config, log, space, tls }: Pick<Kit<unknown, unknown>, 'config' | 'log' | 'space' | 'tls'>,
  receiver: ReceiverConfig,
  deps: InboundMailDeps,
): Promise<WakefulLoop> {
  const limits = { ...defaultSmtpLimits, bytesInFlight: config.maxBodyBytesInFlight };
  return startSmtpReceiver({ config: receiver, limits, tls, log, handler: mailHandler(deps, { log, space }) });
}

function mailHandler(deps: InboundMailDeps, { log, space }: Pick<Kit<unknown, unknown>, 'log' | 'space'>): MailHandler {
  return {
    async accepts(recipient) {
      requireSpace(space);
      const isKnown = ({ subchannels }: TicketSettings) =>
        subchannels && findMailbox([recipient], subchannels) !== undefined;
      if (isKnown(await deps.settings())) return true;
      const isAccepted = isKnown(await deps.settings('owner'));
      if (isAccepted !== undefined) return isAccepted;
      throw new DomainError('unavailable', 'settings_unavailable', 'The mailboxes are not known yet.');
    },
    async receive(mail, recipients, sender) {
      requireSpace(space);
      const call = { caller: serviceCaller('tickets'), trace: continueTrace(undefined), log };
      const arrived = { raw: mail, recipients, keepDate: false, sender: `smtp ${sender}` };
      const { ticketId, conversationId, outcome } = await takeInMail(deps, call, arrived);
      log.info({ ticketId, conversationId, outcome }, 'a mail was taken in');
    },
  };
}
