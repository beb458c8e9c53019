import type { Sample } from '../observability/prometheus-text.ts';

/** A finding of the doctor about a disk. */
interface DiskFinding {
  what: string;
  runbook: 'store-full';
}

/** How many times the reserve is free when a disk is called nearly full, as in its alert. */
export const nearlyFull = 3;

const mib = 1024 * 1024;

/** The databases whose disk is full or nearly, in one finding for each of the two. */
export function storageFindings(samples: readonly Sample[]): DiskFinding[] {
  const disks = [...new Set(samples.map(({ labels }) => labels.service ?? ''))].map((service) => ({
    service,
    free: measured(samples, 'store_free_bytes', service),
    reserve: measured(samples, 'store_reserve_bytes', service),
  }));
  const full = disks.filter(({ free, reserve }) => free < reserve);
  const tight = disks.filter(({ free, reserve }) => free >= reserve && free < nearlyFull * reserve);
  return [
    ...describe(full, 'is full: writes are refused'),
    ...describe(tight, 'is nearly full: writes will be refused'),
  ];
}

/** Whether the disk of the database of a service is full, so that its writes are refused. */
export function isFull(samples: readonly Sample[], service: string | undefined): boolean {
  return measured(samples, 'store_free_bytes', service) < measured(samples, 'store_reserve_bytes', service);
}

function measured(samples: readonly Sample[], name: string, service: string | undefined): number {
  return samples.find((sample) => sample.name === name && sample.labels.service === service)?.value ?? Number.NaN;
}

function describe(disks: readonly { service: string; free: number; reserve: number }[], state: string): DiskFinding[] {
  const [first] = disks.toSorted((left, right) => left.free - right.free);
  if (!first) return [];
  const services = disks.map(({ service }) => service).sort();
  const [free, reserve] = [first.free, first.reserve].map((bytes) => `${Math.floor(bytes / mib)} MiB`);
  const what = `the disk of the database of ${services.join(', ')} ${state} below ${reserve} of free space, and ${free} are free`;
  return [{ what, runbook: 'store-full' }];
}
