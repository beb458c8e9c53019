import './any-ticket.int.test.ts';
