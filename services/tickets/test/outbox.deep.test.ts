import './outbox.int.test.ts';
