// Package lending lends things that take long to make, each to one borrower at a time: it
// decides who gets which, and when another one is made. Containers that invocations share are
// lent by it. It knows nothing of what it lends.
//
// Borrowers are served in the order in which they came. Nobody waits for a thing that is made
// for him while another one is free: things are made in the background. As long as there are
// fewer than processors, another one is made when somebody has waited for as long as making one
// takes, all waits since the last one counted: so at most twice the time is spent that who knew
// the future would spend. With as many as processors, borrowers wait for something else than a
// processor, so only a long wait of one of them counts.
package lending
