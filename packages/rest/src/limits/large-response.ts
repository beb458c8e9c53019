import type { DescField, DescMessage, Message } from '@bufbuild/protobuf';
import { startTimeSlice } from '@ticketing/runtime/time-slice.ts';
import { messageEncoder } from '../codec/encode.ts';
import { readJsonForm } from '../codec/options.ts';

const largeResponses = new WeakSet<Message>();
const pieceLength = 256 * 1024;

/**
 * Marks a response as one that the REST API sends in pieces, because encoding all of it at once would delay other
 * requests and need several times its memory.
 */
export function markAsLarge<Response extends Message>(response: Response): Response {
  largeResponses.add(response);
  return response;
}

/** Writes a value as `JSON.stringify` does, elsewhere if that takes long. */
export type WriteJson = (value: unknown) => string | Promise<Buffer>;

/** Whether a response was marked. */
export function isLarge(response: Message): boolean {
  return largeResponses.has(response);
}

/**
 * Writes a message as the JSON object of its encoder, item by item of its lists, and lets other requests be served in
 * between. `shown` is the flag that `messageEncoder` takes.
 */
export async function* writeInPieces(
  type: DescMessage,
  response: Message,
  shown: string | undefined,
  write: WriteJson,
): AsyncGenerator<Buffer> {
  const slice = startTimeSlice();
  const lists = type.fields.filter(hasObjects);
  const emptied = { ...response, ...Object.fromEntries(lists.map(({ localName }) => [localName, []])) };
  const json = messageEncoder(type, shown)(emptied as Message);
  let text = '{';
  for (const [name, value] of Object.entries(json)) {
    if (text !== '{') text += ',';
    text += `${JSON.stringify(name)}:`;
    const list = lists.find(({ jsonName }) => jsonName === name);
    if (!list?.message) {
      text += JSON.stringify(value);
      continue;
    }
    const encode = messageEncoder(list.message, shown);
    const items = Reflect.get(response, list.localName) as readonly Message[];
    text += '[';
    for (let index = 0; index < items.length; index++) {
      if (index > 0) text += ',';
      const written = write(encode(items[index] as Message));
      if (typeof written === 'string') {
        text += written;
      } else {
        yield Buffer.from(text);
        text = '';
        yield await written;
      }
      if (text.length >= pieceLength) {
        yield Buffer.from(text);
        text = '';
      }
      if (slice.isOver()) await slice.pause();
    }
    text += ']';
  }
  yield Buffer.from(`${text}}`);
}

/** Whether a field is a list of messages that become JSON objects. */
function hasObjects(field: DescField): boolean {
  const isObject = field.message !== undefined && !field.message.typeName.startsWith('google.protobuf.');
  return field.fieldKind === 'list' && isObject && !readJsonForm(field).unwrap;
}
