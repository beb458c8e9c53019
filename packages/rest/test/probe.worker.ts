import { parentPort, threadId } from 'node:worker_threads';
import type { JsonJob } from '../src/limits/json-thread.ts';

/** A thread that does what the text of the body says; otherwise its value is the id of the thread. */
parentPort?.on('message', (job: JsonJob) => {
  const text = 'body' in job ? Buffer.from(job.body).toString().trim() : '';
  if (text === 'exit') process.exit(3);
  if (text === 'throw') throw new Error('thrown in the thread');
  if (text === 'fail') parentPort?.postMessage({ failed: 'not enough memory' });
  else if (text === 'spin') for (;;);
  else parentPort?.postMessage({ value: { json: threadId, violations: [] } });
});
