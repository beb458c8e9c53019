import { runService } from '@ticketing/service-kit/run-service.ts';
import { startTickets } from './service.ts';

await runService(() => startTickets());
