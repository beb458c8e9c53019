import { ConfigError } from '@ticketing/runtime/config-reader.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { Context } from '../context.ts';
import { isPartOfTicket } from '../message/find-known.ts';
import { type MailConfig, openTransport } from './config.ts';
import { startMailer } from './mailer.ts';
import type { measureMails } from './metrics.ts';
import { outgoingMailStore } from './store.ts';

/**
 * Starts the mailer of this process, which requests of this process then wake.
 *
 * Errors: a ConfigError, if no destination of mails is configured.
 */
export function openMailer(
  context: Context,
  { config, database, log, runtime }: Pick<Kit<MailConfig, unknown>, 'config' | 'database' | 'log' | 'runtime'>,
  { count }: ReturnType<typeof measureMails>,
): WakefulLoop {
  if (!config.mail) throw new ConfigError(['SMTP_URL or MAIL_FOLDER is required for the role mailer']);
  const { transport, description, maxConcurrent } = openTransport(config.mail);
  log.info(description);
  const queue = outgoingMailStore(database.connection);
  const mailer = startMailer({
    ...{ queue, transport, maxConcurrent, log, count },
    tokens: context.ticketTokens,
    openFile: ({ key, size }) => context.files.read(key, { start: 0, end: size }),
    settings: context.settings,
    isCommitted: ({ ticketId, id }) => isPartOfTicket(context, { ticketId, conversationId: id }),
    freeMessageId: ({ messageId, ticketId, id }) =>
      context.externalMessageIds.freeOne(messageId, { ticketId, conversationId: id }),
    opened: database.opened,
    now: runtime.now,
    random: runtime.random,
  });
  context.mailer = mailer;
  return mailer;
}
