import { runService } from '@ticketing/service-kit/lifecycle/run-service.ts';
import { startGateway } from './service.ts';

await runService(() => startGateway());
