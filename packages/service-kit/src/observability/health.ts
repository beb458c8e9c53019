/** Checks that a dependency responds; rejects with the reason if it does not. */
export type Check = () => Promise<void>;

/** Whether a process can serve requests now. */
export interface Readiness {
  isReady(): boolean;
  /** Calls the listener after each change of readiness. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
}

/** The health of a service: its readiness, and the state of each of its dependencies. */
export interface Health extends Readiness {
  /** Checks all dependencies now. This is the body of `/readyz`. */
  report(): Promise<HealthReport>;
  /** Makes the service permanently not ready, even if all its dependencies are up. */
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

/** Checks the dependencies of a service, given by name, every 2 seconds and for every report. */
export function watchHealth(checks: Record<string, Check>): Health {
  const listeners = new Set<() => void>();
  let state: Record<string, 'up' | 'down'> = Object.fromEntries(Object.keys(checks).map((name) => [name, 'down']));
  let isStopping = false;
  let refreshing: Promise<void> | undefined;

  const isReady = () => !isStopping && Object.values(state).every((dependency) => dependency === 'up');
  const applyChange = (change: () => void) => {
    const before = isReady();
    change();
    if (isReady() !== before) for (const listener of listeners) listener();
  };
  const checkAll = async () => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check)] as const),
    );
    applyChange(() => {
      state = Object.fromEntries(results);
    });
  };
  const refresh = () => {
    refreshing ??= checkAll().finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  };
  const timer = setInterval(() => void refresh(), checkEveryMs).unref();
  void refresh();
  return {
    isReady,
    async report() {
      await refresh();
      return { status: isStopping ? 'stopping' : isReady() ? 'ready' : 'not_ready', dependencies: state };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    startStopping: () =>
      applyChange(() => {
        isStopping = true;
      }),
    close: () => clearInterval(timer),
  };
}

/** Returns the state of a dependency; one whose check takes too long is down. */
export async function runCheck(check: Check): Promise<'up' | 'down'> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the check took too long')), checkTimeoutMs);
  });
  try {
    await Promise.race([check(), timeout]);
    return 'up';
  } catch {
    return 'down';
  } finally {
    clearTimeout(timer);
  }
}
