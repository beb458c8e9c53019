import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** A server-sent event. Without `data` it only sets the id. */
export interface ReceivedEvent {
  id: string | undefined;
  event: string | undefined;
  data: string | undefined;
}

/** An open stream of server-sent events, read like a browser does. */
export interface EventSourceClient {
  status: number;
  headers: IncomingMessage['headers'];
  /** The next event; undefined at the end. Errors: a connection that breaks off. */
  next(): Promise<ReceivedEvent | undefined>;
  /** The next event that has data. Errors: the stream has ended. */
  nextData(): Promise<ReceivedEvent>;
  /** How many comments there were. */
  comments(): number;
  /** The body of a response that is no stream. */
  body(): Promise<string>;
  /** Reads no more bytes. */
  pause(): void;
  /** Leaves, as a client whose process is killed. */
  close(): void;
}

/** Opens a stream of server-sent events. */
export async function openEventSource(url: string, headers: Record<string, string>): Promise<EventSourceClient> {
  const outgoing = request(url, { agent: false, headers: { accept: 'text/event-stream', ...headers } }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  outgoing.on('error', () => undefined);
  let commentCount = 0;
  const events = readEvents(response, () => {
    commentCount += 1;
  });
  const next = async () => (await events.next()).value;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    next,
    async nextData() {
      for (;;) {
        const event = await next();
        if (!event) throw new Error('The stream has ended.');
        if (event.data !== undefined) return event;
      }
    },
    comments: () => commentCount,
    body: () => text(response),
    pause: () => void response.socket.pause(),
    close: () => void outgoing.destroy(),
  };
}

async function* readEvents(response: IncomingMessage, onComment: () => void): AsyncGenerator<ReceivedEvent, undefined> {
  let received = '';
  response.setEncoding('utf8');
  for await (const piece of response) {
    received += String(piece);
    const blocks = received.split('\n\n');
    received = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      if (lines.some((line) => line.startsWith(':'))) onComment();
      const renderLine = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const event = { id: renderLine('id'), event: renderLine('event'), data: renderLine('data') };
      if (event.id !== undefined || event.data !== undefined) yield event;
    }
  }
  return undefined;
}
