import { runService } from '@ticketing/service-kit/lifecycle/run-service.ts';
import { service } from './service.ts';

await runService(service);
