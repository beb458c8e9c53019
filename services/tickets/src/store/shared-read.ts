/**
 * Makes a read that callers share: whoever calls while one is on its way gets the next, so that each sees all that was
 * written before it called, and many callers cost few reads.
 */
export function sharedRead<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> | undefined;
  let next: Promise<Result> | undefined;

  function start(): Promise<Result> {
    next = undefined;
    const reading = read();
    const settled = reading.then(
      () => undefined,
      () => undefined,
    );
    running = settled;
    void settled.then(() => {
      if (running === settled) running = undefined;
    });
    return reading;
  }

  return () => {
    if (!running) return start();
    next ??= running.then(start);
    return next;
  };
}
