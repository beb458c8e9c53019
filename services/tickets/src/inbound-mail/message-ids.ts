/** The longest `Message-ID` that is kept, with its angle brackets. A longer one counts as none. */
const maxMessageIdChars = 998;
/** How many ids of a header are read: the last ones of `References` name the nearest messages. */
const maxIds = 100;

/**
 * The ids in the value of a header such as `References`, in its order, each with its angle brackets. Of a very long list
 * the last ones are returned. Time is linear in the input.
 */
export function messageIds(value: string): string[] {
  return (value.match(/<[^<>\s]+>/g) ?? []).filter(isMessageId).slice(-maxIds);
}

/** The id of a message: that in its `Message-ID`; some programs leave the angle brackets out. */
export function ownMessageId(value: string): string | null {
  const id = messageIds(value)[0] ?? `<${value.trim()}>`;
  return isMessageId(id) ? id : null;
}

function isMessageId(id: string): boolean {
  return id.length <= maxMessageIdChars && /^<[!-;=?-~\u00a1-\uffff]+>$/.test(id);
}
