import './update-ticket.int.test.ts';
