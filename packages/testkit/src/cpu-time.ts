/**
 * The processor time that this thread has used, in ms. Limits of pure work compare it, because the time on the clock depends
 * on what else the machine does.
 */
export function cpuTimeMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
