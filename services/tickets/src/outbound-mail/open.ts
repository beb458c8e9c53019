import { ConfigError } from '@ticketing/runtime/config-reader.ts';
import { readMeasured } from '@ticketing/runtime/read-measured.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Context } from '../context.ts';
import { isPartOfTicket } from '../message/find-known.ts';
import { type MailConfig, openTransport } from './config.ts';
import { startMailer } from './mailer.ts';
import { type MailQueue, type MailState, outgoingMailStore, type QueueSize } from './store.ts';

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

const outcomes = { sent: 'sent', queued: 'deferred', failed: 'failed' } as const;

/**
 * Registers the metrics of outgoing mails. Every process of the service measures the queue in the store at each scrape,
 * so that it is visible while no mailer runs.
 *
 * Source: docs/reference/guarantees.md, What is measured.
 */
export function measureMails(
  queue: Pick<MailQueue, 'size'>,
  registry: Registry,
  { now }: Pick<Runtime, 'now'>,
): { count(outcome: MailState['status']): void } {
  const attempts = new Counter({
    name: 'mail_attempts_total',
    help: 'Attempts to send a mail, by outcome: sent, deferred (sent again later) or failed (given up).',
    labelNames: ['outcome'],
    registers: [registry],
  });
  // A counter that appears with its first increment seems not to have increased.
  for (const outcome of Object.values(outcomes)) attempts.inc({ outcome }, 0);
  const gauge = (name: string, help: string, readValue: (size: QueueSize) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const size = await readMeasured(() => queue.size());
        this.remove();
        if (size) this.set(readValue(size));
      },
    });
  gauge('mails_queued', 'Mails that are not sent yet.', ({ count }) => count);
  gauge('mails_oldest_queued_seconds', 'Age of the oldest mail that is not sent yet.', ({ oldestAt }) =>
    oldestAt ? Math.max(0, (now() - oldestAt.getTime()) / 1000) : 0,
  );
  return { count: (outcome) => attempts.inc({ outcome: outcomes[outcome] }) };
}
