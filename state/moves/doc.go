// Package moves decides which entries of a state get other addresses: by the rules of
// moved blocks and commands, or as deposed entries, whose address another object has
// taken. Addresses and rules come in, moves go out.
package moves
