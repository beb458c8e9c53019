/**
 * Makes a read that concurrent callers share, so that many calls cost few reads. A call during a read gets the result of
 * the next read, and so sees everything that was written before the call. If the running read fails, the callers that
 * wait for the next one get the same error, because they have already waited as long as a read takes.
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
