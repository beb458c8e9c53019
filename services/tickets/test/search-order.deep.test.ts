import './search-order.int.test.ts';
