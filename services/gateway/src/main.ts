import { runService } from '@ticketing/service-kit/run-service.ts';
import { startGateway } from './service.ts';

await runService(() => startGateway());
