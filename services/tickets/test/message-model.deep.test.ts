import './message-model.int.test.ts';
