import { runService } from '@ticketing/service-kit/lifecycle/run-service.ts';
import { startReporting } from './service.ts';

await runService(() => startReporting());
