/**
 * Makes a read that callers share: whoever calls while one is on its way gets the next, so that each sees all that was
 * written before it called, and many callers cost few reads. Where a read fails, it fails for those too who wait for the
 * next: it would fail as late again.
 */
export function sharedRead<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> | undefined;
  let next: Promise<Result> | undefined;

  function start(): Promise<Result> {
    next = undefined;
    const reading = read();
    running = reading;
    const settle = () => {
      if (running === reading) running = undefined;
    };
    reading.then(settle, settle);
    return reading;
  }

  return () => {
    if (!running) return start();
    next ??= running.then(start);
    return next;
  };
}
