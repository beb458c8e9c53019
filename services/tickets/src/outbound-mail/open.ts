import type { AttachmentState } from '@ticketing/files/attachment.ts';
import type { FileStore } from '@ticketing/files/file-store.ts';
import { ConfigError } from '@ticketing/runtime/config-reader.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { readMeasured } from '@ticketing/runtime/read-measured.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { Counter, Gauge, type Registry } from 'prom-client';
import { isPartOfTicket } from '../message/checks.ts';
import type { ExternalMessageIdStore } from '../message/external-id-store.ts';
import type { ReturnAddresses, TicketTokens } from '../message/rules/outgoing-mail.ts';
import type { SenderSettings } from '../ticket/rules/subchannels.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import { type MailConfig, openTransport } from './config.ts';
import type { ReportOutcome } from './failure-store.ts';
import { type MailerOptions, startMailer } from './mailer.ts';
import { type MailQueue, type MailState, outgoingMailStore, type QueueSize } from './store.ts';

/** The mailer of this process. */
interface Mailer {
  /** Has a started mailer look for mails at once. A process without the role `mailer` leaves them to the others. */
  wake(): void;
  /** Errors: a ConfigError, if no destination of mails is configured. */
  start(): WakefulLoop;
}

interface MailerDeps {
  tickets: Pick<TicketStore, 'findMessages'>;
  externalMessageIds: Pick<ExternalMessageIdStore, 'freeOne'>;
  files: Pick<FileStore, 'read'>;
  /** Finds the files of a ticket and of its messages. */
  findFiles(ticketId: number): Promise<readonly AttachmentState[]>;
  toText: MailerOptions['toText'];
  ticketTokens: TicketTokens;
  returnAddresses: ReturnAddresses;
  showDelivery: MailerOptions['showDelivery'];
  settings(): Promise<SenderSettings>;
}

/** The parts of the kit of which the mailer is made. */
interface MailerKit {
  config: MailConfig;
  database: Pick<Database, 'connection' | 'opened'>;
  log: Logger;
  runtime: Runtime;
  metrics: { registry: Registry };
}

/** Opens the mailer, and registers its metrics. */
export function openMailer(
  { tickets, externalMessageIds, files, ticketTokens, ...deps }: MailerDeps,
  { config, database, log, runtime, metrics }: MailerKit,
): Mailer {
  const queue = outgoingMailStore(database.connection);
  const { count } = measureMails(queue, metrics.registry, runtime);
  let running: WakefulLoop | undefined;
  return {
    wake: () => running?.wake(),
    start() {
      if (!config.mail) throw new ConfigError(['SMTP_URL or MAIL_FOLDER is required for the role mailer']);
      const { transport, description, maxConcurrent } = openTransport(config.mail);
      log.info(description);
      running = startMailer({
        ...{ ...deps, queue, transport, maxConcurrent, log, count },
        tokens: ticketTokens,
        openFile: ({ key, size }) => files.read(key, { start: 0, end: size }),
        isCommitted: ({ ticketId, id }) => isPartOfTicket({ tickets }, { ticketId, conversationId: id }),
        freeMessageId: ({ messageId, ticketId, id }) =>
          externalMessageIds.freeOne(messageId, { ticketId, conversationId: id }),
        opened: database.opened,
        now: runtime.now,
        random: runtime.random,
      });
      return running;
    },
  };
}

const outcomes = { sent: 'sent', queued: 'deferred', failed: 'failed' } as const;

/** Registers the metric of the reports of mail servers. Source: docs/reference/guarantees.md, What is measured. */
export function measureReports(registry: Registry): (outcome: ReportOutcome) => void {
  const reports = new Counter({
    name: 'mail_delivery_reports_total',
    help: 'Delivery reports that were received: failed (a recipient was not reached), delayed, known (nothing new) or foreign (about no message of ours).',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ['failed', 'delayed', 'known', 'foreign'] as const) reports.inc({ outcome }, 0);
  return (outcome) => reports.inc({ outcome });
}

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
