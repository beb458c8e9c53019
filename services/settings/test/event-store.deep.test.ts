import './event-store.int.test.ts';
