import { type BaseBlock, Constructed, fromBER, ObjectIdentifier, OctetString, Sequence } from 'asn1js';

/** Enough for a whole mail in pieces of 1 KiB, in which some programs write: each has two nodes. */
const maxNodes = 100_000;
const maxContentLength = 40 * 1024 * 1024;
const signedData = '1.2.840.113549.1.7.2';

/**
 * The mail within the signature of an S/MIME message of the kind "opaque", in which it can be read only so. Nothing is
 * verified. Undefined if there is none, for example in an encrypted message.
 *
 * Source: RFC 5652, section 5; RFC 8551, section 3.5.2.
 */
export function readSignedMail(bytes: Uint8Array): Uint8Array | undefined {
  try {
    const { result } = fromBER(new Uint8Array(bytes), { maxNodes, maxContentLength });
    const [type, content] = listItems(result);
    if (!(type instanceof ObjectIdentifier) || type.getValue() !== signedData) return undefined;
    const [, , encapsulated] = listItems(listItems(content)[0]);
    const [text] = listItems(listItems(encapsulated)[1]);
    return text instanceof OctetString ? new Uint8Array(text.getValue()) : undefined;
  } catch {
    // The bytes are no ASN.1.
    return undefined;
  }
}

function listItems(block: BaseBlock | undefined): readonly BaseBlock[] {
  return block instanceof Sequence || block instanceof Constructed ? block.valueBlock.value : [];
}
