/** A limit on the bytes that a process holds at once for some purpose, in total and for each key. */
export interface ByteBudget {
  /** Opens a share of a key that grows as bytes arrive. */
  open(key: string): ByteShare;
  /**
   * Takes bytes for a key, for example a caller. Returns the function that gives them back, or undefined if the key or
   * the total is at its limit.
   */
  tryAcquire(key: string, bytes: number): (() => void) | undefined;
  /**
   * Takes bytes as soon as they are free; callers that wait are served in turn, except that one whose key is at its
   * limit lets others pass. Errors: RangeError for more bytes than a key may have; the reason of the signal.
   */
  acquire(key: string, bytes: number, signal: AbortSignal): Promise<() => void>;
  /** Returns the bytes that are taken. */
  used(): number;
}

/** The bytes that one holder has taken of a budget. */
export interface ByteShare {
  /** Takes more bytes. Returns false, and takes none, if the key or the total is at its limit. */
  tryGrow(bytes: number): boolean;
  /** Gives back all bytes. */
  release(): void;
}

/** A caller that waits for bytes. */
interface Waiting {
  key: string;
  bytes: number;
  grant(release: () => void): void;
}

/** Makes a budget. A key that holds nothing takes no memory. Units: bytes. */
export function byteBudget(limits: { total: number; perKey: number }): ByteBudget {
  const takenByKey = new Map<string, number>();
  const waiting = new Set<Waiting>();
  let taken = 0;

  function giveBack(key: string, bytes: number): void {
    taken -= bytes;
    const left = (takenByKey.get(key) ?? 0) - bytes;
    if (left > 0) takenByKey.set(key, left);
    else takenByKey.delete(key);
    serveWaiting();
  }

  function serveWaiting(): void {
    for (const one of waiting) {
      if (taken + one.bytes > limits.total) return;
      const release = tryAcquire(one.key, one.bytes);
      if (release) one.grant(release);
    }
  }

  function open(key: string): ByteShare {
    let held = 0;
    return {
      tryGrow(bytes) {
        const ofKey = (takenByKey.get(key) ?? 0) + bytes;
        if (taken + bytes > limits.total || ofKey > limits.perKey) return false;
        taken += bytes;
        held += bytes;
        if (ofKey > 0) takenByKey.set(key, ofKey);
        return true;
      },
      release() {
        if (held === 0) return;
        const bytes = held;
        held = 0;
        giveBack(key, bytes);
      },
    };
  }

  function tryAcquire(key: string, bytes: number): (() => void) | undefined {
    const share = open(key);
    return share.tryGrow(bytes) ? share.release : undefined;
  }

  return {
    open,
    tryAcquire,
    async acquire(key, bytes, signal) {
      signal.throwIfAborted();
      if (bytes > Math.min(limits.total, limits.perKey)) throw new RangeError(`${bytes} bytes are never free`);
      const release = tryAcquire(key, bytes);
      if (release) return release;
      return new Promise<() => void>((resolve, reject) => {
        const end = () => {
          waiting.delete(one);
          signal.removeEventListener('abort', abort);
        };
        const abort = () => {
          end();
          reject(signal.reason);
          // The next one may need fewer bytes.
          serveWaiting();
        };
        const grant = (released: () => void) => {
          end();
          resolve(released);
        };
        const one: Waiting = { key, bytes, grant };
        waiting.add(one);
        signal.addEventListener('abort', abort, { once: true });
      });
    },
    used: () => taken,
  };
}
