import { Readable } from 'node:stream';
import type { DescMethod, JsonValue, Message } from '@bufbuild/protobuf';
import type { RestRule } from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';
import { messageEncoder } from '../codec/encode.ts';
import { fieldNamed } from '../codec/options.ts';

/** The media type of server-sent events. */
export const eventStreamMediaType = 'text/event-stream';

/** How often a stream has a comment, which shows that its connection is alive, in ms. */
export const commentMs = 15_000;

/** Makes the text of each message of a stream. */
export type WriteEvent = (message: Message) => string;

/**
 * Compiles how the messages of a method are written as server-sent events. A message without data only sets the id with
 * which a client continues.
 *
 * Source: docs/reference/api.md, Feed of changes.
 */
export function eventWriter(method: DescMethod, rule: RestRule): WriteEvent {
  const { id = '', data = '', type = '' } = rule.eventStream ?? {};
  const idField = fieldNamed(method.output, id);
  const dataField = fieldNamed(method.output, data);
  if (!dataField.message) throw new Error(`${dataField.toString()} is not a message`);
  const encode = messageEncoder(dataField.message);
  const typeName = fieldNamed(dataField.message, type).jsonName;
  // Many readers get the same event: it is encoded once.
  const texts = new WeakMap<Message, string>();
  return (message) => {
    const values = message as Message & Record<string, unknown>;
    const idLine = `id: ${String(values[idField.localName])}\n`;
    const value = values[dataField.localName] as Message | undefined;
    if (!value) return `${idLine}\n`;
    let text = texts.get(value);
    if (text === undefined) {
      const json: Record<string, JsonValue> = encode(value);
      text = `event: ${String(json[typeName])}\ndata: ${JSON.stringify(json)}\n\n`;
      texts.set(value, text);
    }
    return idLine + text;
  };
}

/**
 * Returns the bytes of server-sent events: the first message at once, then the others as they come, and a comment every 15
 * seconds. The next message is read only when the client has read those before, so that little is held for a slow one.
 * When the response ends early, the messages are not read any more.
 */
export function eventStream(
  first: Message,
  rest: AsyncIterator<Message>,
  write: WriteEvent,
  failed: (error: unknown) => void,
): Readable {
  let wantsMore = () => {};
  const stream = new Readable({
    read: () => wantsMore(),
    destroy(error, done) {
      clearInterval(timer);
      wantsMore();
      // A handler that waits for its next message ends by the signal of its call.
      void rest.return?.().catch(failed);
      done(error);
    },
  });
  // A reader that has bytes to read needs no comment.
  const timer = setInterval(() => {
    if (stream.readableLength === 0) stream.push(':\n\n');
  }, commentMs);
  const send = async (text: string) => {
    if (stream.destroyed || stream.push(text)) return;
    await new Promise<void>((resolve) => {
      wantsMore = resolve;
    });
  };
  const run = async () => {
    await send(`retry: ${reconnectMs}\n${write(first)}`);
    for (let next = await rest.next(); !next.done && !stream.destroyed; next = await rest.next())
      await send(write(next.value));
    clearInterval(timer);
    if (!stream.destroyed) stream.push(null);
  };
  run().catch((error: unknown) => {
    failed(error);
    stream.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  return stream;
}

/** How soon a client connects again after a stream has ended. */
const reconnectMs = 1_000;
