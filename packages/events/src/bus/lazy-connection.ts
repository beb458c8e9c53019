/** A connection that is opened when it is first needed. */
export interface LazyConnection {
  /** Connects, unless connected already. After a failure the next call tries again. */
  open(): Promise<void>;
  close(): Promise<void>;
}

/** Makes the lazy connection of a client. */
export function lazyConnection(client: { connect(): Promise<void>; disconnect(): Promise<void> }): LazyConnection {
  let opening: Promise<void> | undefined;
  return {
    open(): Promise<void> {
      opening ??= client.connect().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    async close(): Promise<void> {
      if (opening) await client.disconnect();
    },
  };
}
