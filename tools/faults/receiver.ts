import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { isObject, parseJson } from '../import/json.ts';
import { openRecords } from './record-file.ts';

/** How a receiver behaves: it accepts deliveries, fails (all or every other one), never responds, or does not listen. */
export type Behaviour = 'accept' | 'fail' | 'failHalf' | 'hang' | 'vanish';

/**
 * A receiver of webhooks, as a program: PORT, and the FILE to which it appends what it has accepted. Before it responds
 * with 200, the event is in the file, where it outlives the death of this process. Its parent sends its behaviour.
 */
const [port = '', file = ''] = process.argv.slice(2);
const webhook = new Webhook(process.env.TICKETING_TEST_FAULTS_SECRET ?? '');
const retryListenMs = 100;
const records = openRecords(file);
let behaviour: Behaviour = 'accept';
let received = 0;

const server = createServer((request, response) => {
  receive(request, response).catch(() => response.destroy());
});
// Its port may be in use by an outgoing connection for a moment.
server.on('error', () => setTimeout(listen, retryListenMs));
process.on('message', (given: Behaviour) => {
  behaviour = given;
  listen();
});
process.on('disconnect', () => process.exit());
listen();

function listen(): void {
  if (behaviour === 'vanish') {
    server.close();
    server.closeAllConnections();
  } else if (!server.listening) server.listen(Number(port), '127.0.0.1');
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const id = String(request.headers['webhook-id']);
  const hasFailed = behaviour === 'fail' || (behaviour === 'failHalf' && received++ % 2 === 0);
  // A test waits for this.
  if (behaviour === 'hang') process.send?.(id);
  else if (hasFailed) respond(response, 500, 'out of order');
  else respond(response, ...accept(id, request, body));
}

/** Records a delivery. Returns the status and the body of the response. */
function accept(id: string, { headers }: IncomingMessage, body: string): [status: number, body: string] {
  try {
    webhook.verify(body, headers as Record<string, string>);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    records.add([{ problem: `the signature of ${id} is refused: ${reason}` }]);
    return [400, 'refused'];
  }
  const message = parseJson(body);
  records.add([{ id, event: isObject(message) ? message.data : undefined }]);
  return [200, `received ${id}`];
}

function respond(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(body);
}
