import type { Logger } from '@ticketing/runtime/logger.ts';
import type { ReadSettings } from '../settings.ts';
import type { ExportStore } from '../store/export-store.ts';
import type { NightStore } from '../store/night-store.ts';
import type { Projection } from './projection.ts';

/** What the handlers of this service work with. */
export interface Context extends Projection {
  exports: ExportStore;
  settings: ReadSettings;
  log: Logger;
  /** Wakes what makes exports. */
  wakeExports(): void;
  nights: NightStore;
  /** Unix seconds. */
  now(): number;
}
