/** The newest model that is stored. */
export interface ModelSource {
  /** Undefined if nothing was learned yet. While the store is unavailable it is the last one. */
  current(): Promise<ModelBytes | undefined>;
  /** Removes a model that cannot be read, so that another one is used and learned. Errors: store_unavailable. */
  discard(version: number): Promise<void>;
}

/** A model as bytes. */
export interface ModelBytes {
  /** Newer models have higher ones; from 1 on. */
  version: number;
  bytes: Uint8Array;
}
