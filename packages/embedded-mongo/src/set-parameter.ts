const OP_MSG = 2013;

/** Makes the wire message that sets one of the engine's server parameters to a string. */
export function setParameterMessage(name: string, value: string): Buffer {
  const document = bsonDocument([
    int32Element('setParameter', 1),
    stringElement(name, value),
    stringElement('$db', 'admin'),
  ]);
  const header = Buffer.alloc(21); // length, two ids, op code, flags, section kind 0
  header.writeInt32LE(header.length + document.length, 0);
  header.writeInt32LE(OP_MSG, 12);
  return Buffer.concat([header, document]);
}

/** Whether a reply document has `ok: 1`, which the engine always writes as a double. */
export function succeeded(reply: Buffer): boolean {
  const key = Buffer.from('\x01ok\0', 'latin1');
  const at = reply.lastIndexOf(key);
  return at >= 0 && reply.readDoubleLE(at + key.length) === 1;
}

function bsonDocument(elements: readonly Buffer[]): Buffer {
  const body = Buffer.concat([...elements, Buffer.alloc(1)]);
  return Buffer.concat([int32(body.length + 4), body]);
}

function int32Element(name: string, value: number): Buffer {
  return Buffer.concat([Buffer.from(`\x10${name}\0`), int32(value)]);
}

function stringElement(name: string, value: string): Buffer {
  const text = Buffer.from(`${value}\0`);
  return Buffer.concat([Buffer.from(`\x02${name}\0`), int32(text.length), text]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
