// Package lending lends objects that take long to make, each to one borrower at a time: it
// decides who gets which, and when another one is made. Containers that invocations share are
// lent by it. It knows nothing of what it lends.
//
// Borrowers are served in the order in which they came. Nobody waits for an object that is
// being made while another one is free: they are made in the background. As long as there are
// fewer than processors, another one is made when borrowers have waited for as long as making one
// takes, all waits since the last one counted: so whatever follows, at most twice the shortest
// time is spent. With as many as processors, borrowers wait for something else than a
// processor, so only a long wait of one of them counts. If it is known that many borrowers are to come,
// as many are made at once as these are worth.
package lending
