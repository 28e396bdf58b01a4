// Package moves says which entries of a state get other addresses: the rules of moved
// blocks and commands, and the keys of entries whose address another thing has taken.
// Addresses and rules come in, moves go out.
package moves
