import { runService } from '@ticketing/service-kit/run-service.ts';
import { startReporting } from './service.ts';

await runService(() => startReporting());
