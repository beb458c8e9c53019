/** Checks that a dependency answers; rejects with the reason that it does not. */
export type Check = () => Promise<void>;

/** Whether a service can do its work. */
export interface Health {
  /** What `/readyz` answers: the state of each dependency. */
  report(): Promise<HealthReport>;
  isReady(): boolean;
  /** Calls the listener whenever readiness changes; answers how to stop that. */
  onChange(listener: () => void): () => void;
  /** From now on not ready, whatever the dependencies say. */
  startStopping(): void;
  close(): void;
}

/** The state of a service and of each of its dependencies. */
export interface HealthReport {
  status: 'ready' | 'not_ready' | 'stopping';
  dependencies: Record<string, 'up' | 'down'>;
}

const checkTimeoutMs = 1500;
const checkEveryMs = 2000;

/** Watches the dependencies of a service by name; each is checked every 2 seconds and when a report is asked for. */
export function watchHealth(checks: Record<string, Check>): Health {
  const listeners = new Set<() => void>();
  let state: Record<string, 'up' | 'down'> = Object.fromEntries(Object.keys(checks).map((name) => [name, 'down']));
  let stopping = false;
  let running: Promise<void> | undefined;

  const isReady = () => !stopping && Object.values(state).every((dependency) => dependency === 'up');
  const settle = (change: () => void) => {
    const before = isReady();
    change();
    if (isReady() !== before) for (const listener of listeners) listener();
  };
  const checkAll = async () => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await stateOf(check)] as const),
    );
    settle(() => {
      state = Object.fromEntries(results);
    });
  };
  const refresh = () => {
    running ??= checkAll().finally(() => {
      running = undefined;
    });
    return running;
  };
  const timer = setInterval(() => void refresh(), checkEveryMs).unref();
  void refresh();
  return {
    isReady,
    async report() {
      await refresh();
      return { status: stopping ? 'stopping' : isReady() ? 'ready' : 'not_ready', dependencies: state };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    startStopping: () =>
      settle(() => {
        stopping = true;
      }),
    close: () => clearInterval(timer),
  };
}

async function stateOf(check: Check): Promise<'up' | 'down'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), checkTimeoutMs);
  });
  try {
    await Promise.race([check(), late]);
    return 'up';
  } catch {
    return 'down';
  } finally {
    clearTimeout(timer);
  }
}
