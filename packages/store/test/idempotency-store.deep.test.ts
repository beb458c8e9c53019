import './idempotency-store.int.test.ts';
