import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { isObject } from '../import/json.ts';
import { openRecords } from './record-file.ts';

/**
 * A backend system that intents call, as a program: PORT, and the FILE to which it appends every call. A call is in the file
 * before it is responded to, so that it outlives the death of this process. It refuses some calls, ends the connection after
 * some that it has carried out, and before others that it has not.
 */
const [port = '', file = ''] = process.argv.slice(2);
const records = openRecords(file);
const retryListenMs = 100;

const server = createServer((request, response) => {
  json(request)
    .then((body) => {
      const txId = String(request.headers['idempotency-key']);
      const idIn = (name: string) => (isObject(body) && isObject(body[name]) ? Number(body[name].id) : 0);
      const chance = (txId.codePointAt(txId.length - 1) ?? 0) % 8;
      // 0 is refused; after 1 and before 2 the connection ends.
      records.add([
        { txId, intentId: idIn('intent'), ticketId: idIn('ticket'), hasEffect: chance !== 0 && chance !== 2 },
      ]);
      if (chance === 1 || chance === 2) response.destroy();
      else response.writeHead(chance === 0 ? 422 : 200, { 'content-type': 'application/json' }).end('{}');
    })
    .catch(() => response.destroy());
});
// Its port may be in use by an outgoing connection for a moment.
server.on('error', () => setTimeout(listen, retryListenMs));
process.on('disconnect', () => process.exit());
listen();

function listen(): void {
  server.listen(Number(port), '127.0.0.1');
}
