import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { variableName } from '@ticketing/system/services.ts';
import { type Caller, openCaller } from './caller.ts';
import { type ClientsOptions, startClient } from './clients.ts';
import { toRecordFile } from './endpoints.ts';
import type { LeftMail } from './message-verdict.ts';
import type { Mailbox } from './message-writer.ts';
import { readRecords } from './record-file.ts';
import { untilTicketsTake } from './subscribers.ts';

/** The mail server to which the system of a run sends its mails, and the mailbox from which it sends them. */
export interface MailSide {
  mailbox: Mailbox;
  /** The URL at which the system takes in mails. */
  receiverUrl(): URL;
  /** The mails that the server has accepted. */
  left(): LeftMail[];
  stop(): Promise<void>;
}

interface MailSideOptions extends ClientsOptions {
  port: number;
}

/** The service that sends and takes in mails. */
const service = 'tickets';

/** The variables by which the system sends its mails to a port of this machine. */
export function mailVariables(port: number): Environment {
  return { [variableName(service, 'SMTP_URL')]: `smtp://127.0.0.1:${port}` };
}

/** Creates a response template with a file, and an e-mail template around all mails. Returns its id. */
async function createTemplate(caller: Caller): Promise<number> {
  const emailTemplate = { name: 'faults', template: '<p>Dear {{ticket.from}},</p>%MESSAGE%<p>{{ticket.id}}</p>' };
  const { id: value } = await caller.request('POST', '/emailTemplate', emailTemplate);
  await caller.request('PUT', '/settings/genericTemplateId', { value });
  const attachments = [{ name: 'template.txt', base64: Buffer.alloc(2_000, 'template ').toString('base64') }];
  const template = { message: '<p>{{in.marker}}, by a template</p>', attachments };
  return Number((await caller.request('POST', '/template', template)).id);
}

/** Starts the mail server, which is killed and frozen like other clients, and creates the mailbox. */
export async function startMailSide({ system, token, dataDir, port, signal }: MailSideOptions): Promise<MailSide> {
  const file = toRecordFile(dataDir, 'mails');
  const server = startClient({
    name: 'mail server',
    program: 'mail-server.ts',
    args: [String(port), file],
    variables: system.marks,
    log: system.log,
  });
  const caller = openCaller(system.url, token, signal);
  const address = 'support@faults.example';
  const subchannel = { channel: 'email', name: 'faults mail', interface: 'smtp', data: { address } };
  const subchannelId = Number((await caller.request('POST', '/settings/subchannel', subchannel)).id);
  await untilTicketsTake(caller, 'email', subchannelId);
  const templateId = await createTemplate(caller);
  caller.close();
  return {
    mailbox: { subchannelId, address, templateId },
    receiverUrl: () => new URL(`http://127.0.0.1:${system.environment()[variableName(service, 'HTTP_PORT')]}`),
    left: () =>
      readRecords(file).map(({ messageId, marker }) => ({
        messageId: String(messageId),
        marker: typeof marker === 'string' ? marker : undefined,
      })),
    stop: () => server.stop(),
  };
}
