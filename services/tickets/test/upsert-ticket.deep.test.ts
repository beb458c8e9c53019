import './upsert-ticket.int.test.ts';
