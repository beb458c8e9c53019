import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type ListenerOptions, webhookListener } from '../webhook/listener.ts';
import { declareCommand, print, readNumber, UsageError } from './command.ts';

const usage = `Receives webhooks on this machine, verifies them, and prints a line for each delivery:

  npm run webhook:listen -- --secret whsec_…

  --secret SECRET  the secret of the webhook endpoint; or in the variable WEBHOOK_SECRET, which ps does not show
  --port PORT      the port of the receiver (3000); 0 for a free one
  --status STATUS  the status of the response to a verified delivery, 200 to 599 (204)
  --fail RATE      responds with 500 to this share of the verified deliveries, from 0 to 1 (0)

A delivery that is not verified gets 401. Ctrl-C ends it.
`;

const options = {
  secret: { type: 'string', default: process.env.WEBHOOK_SECRET ?? '' },
  port: { type: 'string', default: '3000' },
  status: { type: 'string', default: '204' },
  fail: { type: 'string', default: '0' },
} as const;

export const command = declareCommand({ usage, options }, async (values) => {
  const listenerOptions = {
    secret: readSecret(values.secret),
    status: readNumber('status', values.status, { from: 200, to: 599 }),
    failRate: readRate(values.fail),
  };
  await listen(listenerOptions, readNumber('port', values.port, { from: 0, to: 65_535 }));
});

function readSecret(text: string): string {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1];
  // Standard Webhooks: a secret has 24 to 64 bytes.
  const { length } = Buffer.from(encoded ?? '', 'base64');
  if (length >= 24 && length <= 64) return text;
  throw new UsageError('--secret takes the secret of a webhook endpoint, whsec_… (--help explains it).');
}

function readRate(text: string): number {
  if (/^(0(\.\d+)?|1(\.0+)?)$/.test(text)) return Number(text);
  throw new UsageError(`--fail takes a number from 0 to 1, not "${text}".`);
}

/** Receives deliveries until a signal ends this process. */
async function listen(options: ListenerOptions, port: number): Promise<void> {
  const server = webhookListener(options, print);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new UsageError(`Port ${port} is taken; --port chooses another.`);
  });
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  print(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await once(server, 'close');
}
