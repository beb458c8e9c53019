import { runService } from '@ticketing/service-kit/lifecycle/run-service.ts';
import { startTickets } from './service.ts';

await runService(() => startTickets());
