import './ticket-model.int.test.ts';
