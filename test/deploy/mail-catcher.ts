import { createServer } from 'node:http';
import { startSmtpReceiver } from '@ticketing/testkit/smtp-receiver.ts';

/**
 * A catcher of mails, as a program: SMTP-PORT and HTTP-PORT. It stands in for Mailpit where its image cannot be had, with
 * the two routes of its API that the demonstration uses (tools/demo/remote-mail.ts).
 */
const [smtpPort = '', httpPort = ''] = process.argv.slice(2);
const any = '0.0.0.0';
const { mails } = await startSmtpReceiver({ port: Number(smtpPort), host: any });

createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '', 'http://catcher');
  const id = /^\/api\/v1\/message\/(\d+)\/raw$/.exec(pathname)?.[1];
  const mail = id === undefined ? undefined : mails[Number(id)];
  if (pathname === '/api/v1/messages') {
    const messages = mails.map(({ bytes }, index) => ({ ID: String(index), MessageID: readMessageId(bytes) }));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ messages: messages.reverse() }));
  } else if (mail) response.setHeader('content-type', 'text/plain').end(mail.bytes);
  else response.writeHead(404).end();
}).listen(Number(httpPort), any);

for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit());

function readMessageId(bytes: Buffer): string {
  return /^Message-ID: *<(.*)>\r$/im.exec(bytes.toString('latin1'))?.[1] ?? '';
}
