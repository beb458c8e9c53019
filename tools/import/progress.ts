const barWidth = 20;

/**
 * Shows the progress of work until it ends: a progress bar on a terminal, else a line each second.
 *
 * Errors: those of the work.
 */
export async function withProgress(
  isTerminal: boolean,
  line: () => string,
  doneFraction: () => number,
  print: (text: string) => void,
  work: Promise<void>,
): Promise<void> {
  if (isTerminal) return showTask(() => `${bar(doneFraction())} ${line()}`, work);
  const timer = setInterval(() => print(line()), 1000);
  try {
    await work;
  } finally {
    clearInterval(timer);
  }
}

async function showTask(line: () => string, work: Promise<void>): Promise<void> {
  const { Listr } = await import('listr2');
  const list = new Listr(
    [
      {
        title: line(),
        task: async (_context, task) => {
          const timer = setInterval(() => {
            task.title = line();
          }, 200);
          await work.finally(() => clearInterval(timer));
          task.title = line();
        },
      },
    ],
    // The import handles Ctrl-C itself: it completes the requests in flight, then ends.
    { renderer: 'default', registerSignalListeners: false, rendererOptions: { showErrorMessage: false } },
  );
  await list.run().catch(() => undefined);
  return work;
}

function bar(share: number): string {
  const filled = Math.round(share * barWidth);
  return '█'.repeat(filled) + '░'.repeat(barWidth - filled);
}
